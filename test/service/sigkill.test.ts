import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { Choices } from '../../storage/test/choices.ts'
import { testWithFixtures } from '../fixtures.ts'
import { FIRST_SLOT, recordedBlocks, writeLines } from './recorded-folder.ts'
import { ADMIN_KEY, spawnMillrace } from './service-process.ts'
import { storedRows } from './stored-rows.ts'

const BLOCKS = 220
const LAST_SLOT = FIRST_SLOT + (BLOCKS - 1) * 2
const SEED = 90_210
/**
 * The 11 seconds between two blocks take 2.5 ms. However fast the machine, a run that is killed after some blocks leaves most
 * of them for the next runs.
 */
const SPEED = '4400'

/** When a run is killed: some milliseconds after a number of committed blocks; null to let it read everything. */
type End = { readonly blocks: number; readonly ms: number } | null

interface Life {
  /** The slot after which its ingest continued, -1 on an empty store, null if it never did. */
  readonly wentOnAfter: number | null
  /** Milliseconds until it listened; null if it never did. */
  readonly listenedMs: number | null
  readonly finished: boolean
}

/** Runs the service as a user does, until it is killed, or until it has read all blocks and is drained. */
async function live(dataDir: string, recordedDir: string, end: End): Promise<Life> {
  const flags = ['--recorded-dir', recordedDir, '--data-dir', dataDir, '--port', '0', '--log-level', 'debug']
  flags.push('--recorded-speed', SPEED)
  const environment = { MILLRACE_ADMIN_KEY: ADMIN_KEY }
  const beganMs = performance.now()
  const child = spawnMillrace(['serve', '--source', 'recorded', ...flags], environment)
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let wentOnAfter: number | null = null
  let listenedMs: number | null = null
  let finished = false
  let committed = 0
  const killIn = (ms: number): void => void setTimeout(() => child.kill('SIGKILL'), ms)
  if (end?.blocks === 0) killIn(end.ms)
  createInterface(child.stdout!).on('line', (line) => {
    if (line.startsWith('listening on')) listenedMs ??= performance.now() - beganMs
  })
  const faults: string[] = []
  for await (const line of createInterface(child.stderr!)) {
    const begun = /ingest resumes after (?:slot (\d+)|an empty store)/.exec(line)
    if (begun !== null) wentOnAfter = Number(begun[1] ?? -1)
    if (line.includes('block committed') && ++committed === end?.blocks) killIn(end.ms)
    if (/"level":[456]0/.test(line)) faults.push(line)
    if (!line.includes('the source has no more blocks')) continue
    finished = true
    child.kill('SIGTERM')
  }
  const [code, signal] = await exit
  assert.deepEqual(faults, [], 'a restart complains of nothing')
  assert.ok(finished ? code === 0 || signal === 'SIGKILL' : signal === 'SIGKILL')
  return { wentOnAfter, listenedMs, finished }
}

testWithFixtures(
  t,
  'killed with -9 at random instants and restarted until all is read, the service has stored what an undisturbed one has',
  async (t) => {
    const directory = t.testdir({ blocks: {}, undisturbed: {}, killed: {} })
    const recorded = join(directory, 'blocks')
    const killed = join(directory, 'killed')
    writeLines(recorded, 'all.ndjson', recordedBlocks(BLOCKS))
    const undisturbed = await live(join(directory, 'undisturbed'), recorded, null)
    t.match(undisturbed, { wentOnAfter: -1, finished: true })
    const expected = await storedRows(join(directory, 'undisturbed/store'))
    t.equal(expected.records.b, BLOCKS)

    const choices = new Choices(SEED)
    const lives: Life[] = []
    /** The shortest start so far, in milliseconds. */
    let startMs = undisturbed.listenedMs!
    // Kills while starting, then kills while ingesting, mixed with kills while starting.
    for (let i = 0; i < 18; i++) {
      const early = i < 3 || i % 5 === 0
      const end: End = early
        ? { blocks: 0, ms: choices.fraction() * startMs }
        : { blocks: 1 + choices.below(12), ms: choices.fraction() * 15 }
      const ended = await live(killed, recorded, end)
      lives.push(ended)
      startMs = Math.min(startMs, ended.listenedMs ?? Infinity)
      if (ended.finished) break
    }
    const kills = lives.filter(({ finished }) => !finished)
    t.ok(kills.length >= 12, `${kills.length} kills`)
    t.ok(kills.filter(({ listenedMs }) => listenedMs === null).length >= 3, 'some before it listened')
    const last = await live(killed, recorded, null)
    t.equal(last.finished, true)

    const resumed = [...lives, last].flatMap(({ wentOnAfter }) => wentOnAfter ?? [])
    t.strictSame(
      resumed,
      resumed.toSorted((a, b) => a - b),
      'what is stored stays stored'
    )
    const middles = new Set(resumed.filter((slot) => slot > FIRST_SLOT && slot < LAST_SLOT))
    t.comment(
      `went on after ${[...middles].map((slot) => (slot - FIRST_SLOT) / 2).join(', ')} of ${BLOCKS} blocks`
    )
    t.ok(middles.size >= 6, `${middles.size} kills landed in the middle of ingest`)
    t.strictSame(await storedRows(join(killed, 'store')), expected)
  }
)
