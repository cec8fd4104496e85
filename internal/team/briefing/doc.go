// Package brief makes the notes for the successor of a conversation: what the agent was asked, what it last said and
// changed, and what the memory has about it.
//
//   - No model is asked. What is quoted stands as it was said, and is cut.
//   - The notes are bounded, since they stay in the conversation for as long as it lasts, and since Claude
//     puts longer output of a hook into a file.
//   - They carry no authority: they say of themselves that they are from the program, and a line that is
//     quoted cannot end the quotation.
//
// The package reads transcripts, and knows neither verbs nor the database of what is remembered.
package brief
