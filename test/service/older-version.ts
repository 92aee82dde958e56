import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../house/sources.ts'

/** Maximum bytes of the packed sources: several times those of today. */
const ARCHIVE_BYTES_MAX = 256 * 2 ** 20
/** Folders and files of a running service. */
const RUNNING = ['src', 'actors', 'machines', 'storage', 'package.json']
/** Folders whose changes another process may notice: all that is stored, and all that is said over Redis. */
const SHARED = ['storage/scylla', 'storage/codec', 'storage/redis', 'storage/cluster', 'src/fleet']
const SCHEMA = 'storage/scylla/schema'

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/**
 * Returns the commit of the version before this one: that of `OLDER_COMMIT`, or that of the newest tag. Without a tag it is
 * the parent of the newest commit that changed what processes share. Null without the history of the sources, as in a packed
 * copy or a shallow clone.
 */
export function olderCommit(): string | null {
  try {
    const { OLDER_COMMIT } = process.env
    if (OLDER_COMMIT !== undefined) return commitOf(OLDER_COMMIT)
    // A copy in a folder of another repository has no history of its own.
    if (git('rev-parse', '--show-prefix') !== '') return null
    const tag = git('tag', '--merged', 'HEAD^', '--sort=-creatordate').split('\n')[0]!
    if (tag !== '') return commitOf(tag)
    const changed = git('log', '--format=%H', '-1', '--', ...SHARED)
    return changed === '' ? null : commitOf(`${changed}^`)
  } catch {
    return null
  }
}

const commitOf = (name: string): string =>
  git('rev-parse', '--verify', '--end-of-options', `${name}^{commit}`)

/** Whether a commit has another schema of keyspaces than these sources, so that it refuses to start on theirs. */
export function hasOtherSchema(commit: string): boolean {
  const files = git('ls-tree', '--name-only', `${commit}:${SCHEMA}`).split('\n')
  return files.toSorted().at(-1) !== readdirSync(join(ROOT, SCHEMA)).toSorted().at(-1)
}

/** Writes the sources of a commit into a new folder, where they use the packages of this version. Returns the folder. */
export function unpackVersion(commit: string, directory: string): string {
  const root = join(directory, 'older')
  mkdirSync(root)
  const archive = execFileSync('git', ['-C', ROOT, 'archive', commit, ...RUNNING], {
    maxBuffer: ARCHIVE_BYTES_MAX
  })
  execFileSync('tar', ['-x', '-C', root], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  return root
}
