// Package changes shows what an agent has changed in its git working tree, committed or not.
//
//   - It changes nothing in the tree: it works on a copy of git's index.
//   - It runs no program that the repository names: an agent could have written that name.
//   - A folder that agents share shows the changes of all of them. The answer says so.
package changes
