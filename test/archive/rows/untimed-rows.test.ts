import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { at, FaultyNode, type JsonBlock } from '../../node/faulty-node.ts'
import { csvText, type SampleRow } from './sample-rows.ts'
import { archived, FIRST_SLOT, FIRST_TIME, importing, tradeRows } from './trade-rows.ts'

const ROWS = tradeRows(120)
/** Two trades a slot: more slots than a batch has. */
const SLOTS = 60

const root = t.testdir()
let folders = 0
const dataFolder = (): string => join(root, `data-${folders++}`)

function fileOf(name: string, rows: readonly SampleRow[]): string {
  const path = join(root, name)
  writeFileSync(path, csvText(rows))
  return path
}

const untimed = (rows: readonly SampleRow[]): SampleRow[] => rows.map((row) => ({ ...row, block_time: null }))

const timedFile = fileOf('timed.csv', ROWS)
const untimedFile = fileOf('untimed.csv', untimed(ROWS))

const wholeDir = dataFolder()
await importing(wholeDir, timedFile)
const whole = await archived(wholeDir)

/** A node with the slots of the rows and their times. */
async function timeNode(t: Test): Promise<FaultyNode> {
  const blocks = new Map(
    Array.from({ length: SLOTS }, (_, number): [number, JsonBlock] => {
      const slot = FIRST_SLOT + number
      const chain = { blockhash: `h${slot}`, previousBlockhash: `h${slot - 1}`, parentSlot: slot - 1 }
      const blockTime = FIRST_TIME + Math.floor(number / 2)
      return [slot, { ...chain, blockTime, blockHeight: number, transactions: [] }]
    })
  )
  return FaultyNode.start(t, blocks)
}

const nodeWords = (node: FaultyNode, setting = '--archive-rpc-url'): string[] => [
  ...[setting, node.url],
  ...['--requests-per-second', '1000']
]

/** The records of an archive, without that of the genesis, which only a node states. */
async function recordsIn(dataDir: string): Promise<Record<string, string>> {
  const genesis = Buffer.from('genesis-a').toString('hex')
  return Object.fromEntries(
    Object.entries(await archived(dataDir)).filter(([, value]) => !value.includes(genesis))
  )
}

t.test('rows of slots alone have the times of the node, which is asked once for each slot', async (t) => {
  const node = await timeNode(t)
  const dataDir = dataFolder()
  const { code, lines, stderr } = await importing(dataDir, untimedFile, ...nodeWords(node))
  t.equal(code, 0, [...lines, stderr].join('\n'))
  t.match(lines, [/^120 rows/, `times of ${SLOTS} slots are read from the node`])
  t.strictSame(await recordsIn(dataDir), whole, 'the bytes of a file with times')
  t.strictSame(node.batches, [50, 10])
  const again = await importing(dataDir, untimedFile, ...nodeWords(node))
  t.equal(again.code, 0, again.stderr)
  t.equal(node.asked('getBlockTime').length, SLOTS, 'a repeated import asks nothing')
  t.strictSame(await recordsIn(dataDir), whole)
})

t.test('a row of the import or an earlier one states the time, and no node is asked', async (t) => {
  const node = await timeNode(t)
  const dataDir = dataFolder()
  const times = fileOf(
    'times.csv',
    ROWS.filter((_, number) => number % 2 === 0)
  )
  const others = fileOf('others.csv', untimed(ROWS.filter((_, number) => number % 2 === 1)))
  const { code, stderr } = await importing(dataDir, others, times, ...nodeWords(node))
  t.equal(code, 0, stderr)
  t.strictSame(node.requests, [])
  const later = dataFolder()
  t.equal((await importing(later, times)).code, 0)
  t.equal((await importing(later, others, ...nodeWords(node))).code, 0)
  t.strictSame(node.requests, [])
  t.strictSame(await archived(later), await archived(dataDir))
})

t.test('without a node the rows are held back, until a later import has one', async (t) => {
  const node = await timeNode(t)
  const dataDir = dataFolder()
  const held = await importing(dataDir, untimedFile)
  t.equal(held.code, 1)
  t.match(held.lines.join('\n'), /slots of files without a time, no-node: 60; set MILLRACE_ARCHIVE_RPC_URL/)
  t.match(held.lines.join('\n'), /held back, unknown-time: 120 rows/)
  const { code, stderr } = await importing(dataDir, untimedFile, ...nodeWords(node, '--rpc-url'))
  t.equal(code, 0, stderr)
  t.strictSame(await recordsIn(dataDir), whole)
})

t.test('a node without the method, or without a time, leaves rows held back by that reason', async (t) => {
  const node = await timeNode(t)
  const dataDir = dataFolder()
  node.inject('old', { kind: 'error', code: -32601, message: 'no method' }, at('getBlockTime'), Infinity)
  const old = await importing(dataDir, untimedFile, ...nodeWords(node))
  t.equal(old.code, 1)
  t.match(old.lines.join('\n'), /without a time, no-method: 60; the node does not have getBlockTime/)
  t.equal(node.batches.length, 1, 'one request')
  node.forgive()
  node.inject('null', { kind: 'result', result: null }, at('getBlockTime', FIRST_SLOT + 3))
  node.blocks.delete(FIRST_SLOT + 5)
  const { code, lines } = await importing(dataDir, untimedFile, '--json', ...nodeWords(node))
  t.equal(code, 1)
  t.match(JSON.parse(lines[0]!), {
    times: { read: 58, missing: { 'no-time': 1, 'no-block': 1 } },
    fold: { trades_of_files: 116, held_back: { 'unknown-time': 4 } }
  })
  const asked = node.asked('getBlockTime').length
  const again = await importing(dataDir, untimedFile, ...nodeWords(node))
  t.equal(again.code, 1)
  t.match(again.lines.join('\n'), /without a time, no-time: 1; [^]*without a time, no-block: 1; /)
  t.equal(node.asked('getBlockTime').length, asked, 'not asked again')
  t.equal((await importing(dataDir, timedFile)).code, 0, 'a file with times completes it')
  t.strictSame(await recordsIn(dataDir), whole)
})

t.test('a node of another chain is not asked for times', async (t) => {
  const node = await timeNode(t)
  const dataDir = dataFolder()
  const half = (part: number): string =>
    fileOf(`half-${part}.csv`, untimed(ROWS.slice(part * 60, part * 60 + 60)))
  t.equal((await importing(dataDir, half(0), ...nodeWords(node))).code, 0)
  const asked = node.asked('getBlockTime').length
  node.genesis = 'genesis-b'
  const { code, lines, stderr } = await importing(dataDir, half(1), ...nodeWords(node))
  t.equal(code, 1)
  t.match(
    stderr,
    /times of slots are not read: the node is of the genesis genesis-b, the archive of genesis-a/
  )
  t.match(lines.join('\n'), /without a time, other-chain: 30/)
  t.equal(node.asked('getBlockTime').length, asked)
})

t.test(
  'an import that is killed while it reads times continues, and asks for no answered slot',
  async (t) => {
    const node = await timeNode(t)
    const dataDir = dataFolder()
    const words = ['archive', 'import', untimedFile, '--data-dir', dataDir, ...nodeWords(node)]
    const program = join(import.meta.dirname, '..', 'import-child.ts')
    let kills = 0
    // Numbers of the write of a run that is its last: some are of the rows, some of the times.
    for (const number of [3, 5, 7, 9]) {
      const own = ['facts', String(number), join(root, 'own', String(number))]
      const child = spawn(process.execPath, [program, ...own, ...words], { env: {} })
      const [, signal] = (await once(child, 'close')) as [number | null, string | null]
      if (signal === null) break
      kills++
    }
    t.ok(kills >= 2, `${kills} kills`)
    const { code, stderr } = await importing(dataDir, untimedFile, ...nodeWords(node))
    t.equal(code, 0, stderr)
    t.strictSame(await recordsIn(dataDir), whole)
    const counts = Map.groupBy(node.asked('getBlockTime'), ({ params }) => params[0])
    t.equal(counts.size, SLOTS)
    t.strictSame(
      [...counts.values()].filter(({ length }) => length > 2),
      [],
      'a kill costs the request under way'
    )
  }
)
