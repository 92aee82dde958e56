import { run } from '../../src/kernel/cli/run.ts'
import { PROGRAM } from '../../src/program.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'

/** Imports a folder by the command, and kills itself when a number of blocks is committed. The settings are in the environment. */
const [folder, blocks] = process.argv.slice(2) as [string, string]
let count = 0
const publish = Reflect.get(CommitFeed.prototype, 'publish') as (...commit: unknown[]) => void
CommitFeed.prototype.publish = function (...commit) {
  publish.apply(this, commit)
  if (++count >= Number(blocks)) process.kill(process.pid, 'SIGKILL')
}
process.exitCode = await run(
  ['archive', 'import', folder],
  {
    stdout: () => undefined,
    stderr: (line) => void process.stderr.write(`${line}\n`),
    stdin: process.stdin,
    interrupted: new AbortController().signal
  },
  PROGRAM
)
