package cli

const projectsTopic = `A project is a folder that holds .nbs. The first spawn makes it in the current folder. Later
commands look for it upward from the current folder, as git looks for .git; the nearest one
counts. --root DIR or NBS_ROOT names one. Agents work in the project root, unless spawn --cwd or
--worktree says otherwise. With several repositories there are two ways.

One team over all of them: one .nbs in the folder above, and a --cwd for each agent. There is one
list, one journal and one stop --all, and agents can write to each other.

  cd ~/src
  nbs-worker spawn api --cwd api --trust
  nbs-worker spawn web --cwd web --trust
  cd web; nbs-worker list    # the same list

A team for each of them: one .nbs in each repository, made by a first spawn there. They share
nothing.

Your projects are known, wherever you are: nbs-worker list --all-projects shows the agents of all
of them, and nbs-worker project list the projects. One whose folder is gone stays known until
nbs-worker project forget DIR, since its disk may only not be mounted. An agent sees its own
project only.`
