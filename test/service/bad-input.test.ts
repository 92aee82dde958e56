import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { FIRST_SLOT, recordedBlocks, writeLines } from './recorded-folder.ts'
import { startProcess } from './service-process.ts'
import { storedRows } from './stored-rows.ts'

const DONE = /the source has no more blocks/
const IS_ROOT = process.getuid?.() === 0

interface LogLine {
  readonly level: number
  readonly reason?: string
  readonly file?: string
  readonly line?: number
  readonly msg: string
  readonly blocks?: number
}

/** Serves a folder until it is read. Returns the log, the health and the stored rows. */
async function serveFolder(directory: string, folder: string) {
  const dataDir = join(directory, `data-of-${folder}`)
  const service = await startProcess({ dataDir, recordedDir: join(directory, folder) })
  await service.said(DONE)
  const health = await service.get('/v1/health', null)
  const launches = await service.get('/v1/launches')
  const end = await service.end('SIGTERM')
  const lines = service.stderr.map((line) => JSON.parse(line) as LogLine)
  return { lines, health, launches, end, rows: await storedRows(join(dataDir, 'store')) }
}

testWithFixtures(
  t,
  'bad files between good ones are each named in a line, and the good ones are served',
  async (t) => {
    const directory = t.testdir({ good: {}, mixed: { 'directory.json': {} } })
    const [first, second, third, fourth, fifth] = recordedBlocks(5) as [
      unknown,
      unknown,
      unknown,
      unknown,
      unknown
    ]
    const empty = {
      slot: FIRST_SLOT + 100,
      block: { blockhash: 'x', blockTime: 1_787_580_000, parentSlot: FIRST_SLOT + 99, transactions: [] }
    }
    const text = (value: unknown): string => JSON.stringify(value)
    writeLines(join(directory, 'good'), 'all.ndjson', [first, second, third, fourth, fifth, empty])

    const at = (name: string): string => join(directory, 'mixed', name)
    writeFileSync(at('a-good.json'), text(first))
    writeFileSync(at('b-cut-off.json'), text(third).slice(0, 5_000))
    writeFileSync(at('c-zero.json'), '')
    writeFileSync(
      at('d-error.json'),
      text({ jsonrpc: '2.0', id: 1, error: { code: -32007, message: 'Slot skipped' } })
    )
    writeFileSync(at('e-null.json'), text({ jsonrpc: '2.0', id: 1, result: null }))
    writeFileSync(at('f-without-transactions.json'), text(empty))
    writeFileSync(at('g-other.json'), text({ some: 'thing' }))
    writeFileSync(at('h-cut-off.json.gz'), gzipSync(text(third)).subarray(0, 400))
    writeFileSync(at('i-no-gzip.json.gz'), text(third))
    writeFileSync(at('j-twice.json'), text({ ...(second as object), slot: FIRST_SLOT }))
    writeFileSync(at('k-again.json'), text(first))
    writeFileSync(at('l-lines.ndjson'), [text(second), '{"slot":', text(third), '', text(fourth)].join('\n'))
    writeFileSync(at('m-notes.txt'), 'notes')
    writeFileSync(at('directory.json/inside.json.gz'), gzipSync(text(fifth)))

    const good = await serveFolder(directory, 'good')
    const mixed = await serveFolder(directory, 'mixed')
    t.strictSame(mixed.rows, good.rows, 'what is stored is what the good files hold')
    t.strictSame(mixed.rows.records.b, 6)
    t.match(mixed.health.body, { slot: FIRST_SLOT + 100 })
    t.strictSame(mixed.launches.body, good.launches.body)
    t.match(mixed.end, { code: 0 })

    const warned = mixed.lines.filter(({ level }) => level === 40)
    t.strictSame(
      warned.map(({ file, reason, line }) => [file, reason, line ?? null]),
      [
        ['b-cut-off.json', 'not-json', null],
        ['c-zero.json', 'not-json', null],
        ['d-error.json', 'rpc-error', null],
        ['e-null.json', 'no-result', null],
        ['g-other.json', 'neither-block-nor-transaction', null],
        ['h-cut-off.json.gz', 'unreadable-file', null],
        ['i-no-gzip.json.gz', 'unreadable-file', null],
        ['j-twice.json', 'slot-twice', null],
        ['l-lines.ndjson', 'not-json', 2],
        ['m-notes.txt', 'other-file', null]
      ]
    )
    t.match(warned.find(({ file }) => file === 'd-error.json')?.msg, /-32007: Slot skipped/)
    t.match(warned.find(({ file }) => file === 'j-twice.json')?.msg, /different in a-good\.json/)
    t.notOk(
      mixed.lines.some(({ level }) => level > 40),
      'nothing of it is an error of ours'
    )
    t.strictSame(
      good.lines.filter(({ level }) => level > 30),
      []
    )
  }
)

t.test('an empty folder is served as one without data, and says so', async (t) => {
  const directory = t.testdir({ nothing: {} })
  const { lines, health, launches, end, rows } = await serveFolder(directory, 'nothing')
  t.equal(health.status, 503)
  t.match(health.body, { status: 'degraded', slot: null })
  t.strictSame(launches.body.data, [])
  t.match(lines.find(({ level }) => level === 40)?.msg, /holds no block or transaction that can be served/)
  t.strictSame(rows.records, { v: 1 })
  t.match(end, { code: 0 })
})

testWithFixtures(t, 'files that may not be read are named, and the others served', async (t) => {
  if (IS_ROOT) return t.pass('root may read every file')
  const directory = t.testdir({ blocks: { locked: {} } })
  const blocks = join(directory, 'blocks')
  writeLines(blocks, 'good.ndjson', recordedBlocks(2))
  writeLines(blocks, 'secret.ndjson', recordedBlocks(1))
  chmodSync(join(blocks, 'secret.ndjson'), 0)
  chmodSync(join(blocks, 'locked'), 0)
  t.teardown(() => chmodSync(join(blocks, 'locked'), 0o700))
  const { lines, rows } = await serveFolder(directory, 'blocks')
  t.match(
    lines.find(({ file }) => file === 'secret.ndjson'),
    { reason: 'unreadable-file', msg: /EACCES/ }
  )
  t.equal(rows.records.b, 2)
})

testWithFixtures(t, 'a folder that changes between two starts damages nothing that is stored', async (t) => {
  const directory = t.testdir({ blocks: {} })
  const blocks = join(directory, 'blocks')
  const records = recordedBlocks(6)
  writeLines(blocks, 'all.ndjson', records.slice(0, 4))
  const first = await serveFolder(directory, 'blocks')
  writeFileSync(join(blocks, 'all.ndjson'), JSON.stringify(records[0]).slice(0, 900))
  const second = await serveFolder(directory, 'blocks')
  t.strictSame(second.rows, first.rows, 'a file that has since been broken')
  mkdirSync(join(blocks, 'more'))
  writeLines(join(blocks, 'more'), 'next.ndjson', [records[5], records[4], records[1]])
  const third = await serveFolder(directory, 'blocks')
  t.equal(third.rows.records.b, 6)
  t.match(
    third.lines.find(({ msg }) => DONE.test(msg)),
    { blocks: 2 },
    'only what is new is read'
  )
})
