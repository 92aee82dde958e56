import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { REQUESTS_PER_SECOND } from '../../src/archive/commands/node-rate.ts'
import { indexedSource } from '../../actors/ingest/source.ts'
import { systemPorts } from '../../src/ports.ts'
import { scanRecorded } from '../../src/recorded/scan.ts'
import { openStore, storeDirectory } from '../../src/store/opening.ts'
import type { Storage } from '../../storage/port.ts'
import { loneIngester } from '../actors/ingest/lone-ingester.ts'
import { runCommand, type Said } from '../cli/run-command.ts'
import { at, FaultyNode, jsonChain, type JsonBlock } from '../node/faulty-node.ts'
import { configIn, recordedMarket, recordsOf } from './recorded-market.ts'

const market = await recordedMarket(t, 'a backfill', 30)
const { slots, directory } = market
const [first, last] = [slots[0]!, slots.at(-1)!]
const blocks = new Map(
  slots.map((slot) => {
    const text = readFileSync(join(directory, `${slot}.json`), 'utf8')
    return [slot, (JSON.parse(text) as { block: JsonBlock }).block]
  })
)

let folders = 0
const dataFolder = (): string => join(`${directory}-data`, String(folders++))
const archived = (dataDir: string) => recordsOf(storeDirectory({ dataDir: join(dataDir, 'archive') }))

const FAST = ['--requests-per-second', '1000']

const wordsOf = (
  node: FaultyNode,
  dataDir: string,
  range = `${first}..${last}`,
  more: readonly string[] = FAST
): string[] => [
  'archive',
  'backfill',
  range,
  ...['--archive-rpc-url', node.url, '--data-dir', dataDir, ...more]
]

function backfilling(
  node: FaultyNode,
  dataDir: string,
  range?: string,
  more?: readonly string[],
  interrupted?: AbortSignal
): Promise<Said> {
  return runCommand(wordsOf(node, dataDir, range, more), {}, interrupted)
}

/** The rows of the recorded folder with the same blocks. */
const importedDir = dataFolder()
await runCommand(['archive', 'import', directory, '--data-dir', importedDir])
const imported = await archived(importedDir)

async function fillLive(storage: Storage, from: number): Promise<void> {
  const ingester = await loneIngester(storage)
  const source = indexedSource(await scanRecorded(directory), systemPorts.clock)
  const { signal } = new AbortController()
  for await (const block of source.blocks({ after: from - 1, signal })) await ingester.ingest(block)
  await storage.close()
}

/** Leaves out the record of the genesis, which only a node states. */
const withoutGenesis = async (dataDir: string): Promise<Record<string, string>> => {
  const genesis = Buffer.from('genesis-a').toString('hex')
  return Object.fromEntries(
    Object.entries(await archived(dataDir)).filter(([, value]) => !value.includes(genesis))
  )
}

t.test(
  'a backfill stores the rows of an import, through limits of rate and faults of the node',
  async (t) => {
    const node = await FaultyNode.start(t, blocks)
    const limit = { kind: 'status', status: 429, retryAfter: '0' } as const
    node.inject('limited start', limit, at('getGenesisHash'))
    node.inject('limited list', limit, at('getBlocksWithLimit'))
    node.inject('broken list', { kind: 'status', status: 500 }, at('getBlocksWithLimit'))
    node.inject('limited blocks', limit, at('getBlock'), 3)
    node.inject('dropped', { kind: 'drop' }, at('getBlock', slots[7]), 2)
    node.inject('cut', { kind: 'cut-gzip' }, at('getBlock', slots[9]))
    const dataDir = dataFolder()
    const { code, lines, stderr } = await backfilling(node, dataDir)
    t.equal(code, 0, stderr)
    t.same(node.unfired, [])
    t.match(lines, [
      new RegExp(`^${slots.length} blocks with \\d+ trades are added$`),
      new RegExp(`^the archive has slots ${first} to ${last},`)
    ])
    t.match(
      stderr,
      new RegExp(`^slot ${last}, 100 %: ${slots.length} blocks, \\d+ trades, .* blocks/s$`, 'm')
    )
    t.same(await withoutGenesis(dataDir), imported)
    const asked = node.asked('getBlock').length
    const again = await backfilling(node, dataDir)
    t.match([again.code, again.lines[0]], [0, '0 blocks with 0 trades are added'])
    // The chain is compared at both ends of the archive.
    t.equal(node.asked('getBlock').length, asked + 2, 'a repeated run reads no block')
  }
)

t.test(
  'a backfill that is interrupted or killed anywhere continues, and reads no stored block again',
  async (t) => {
    const node = await FaultyNode.start(t, blocks)
    const dataDir = dataFolder()
    const interrupt = new AbortController()
    // Blocks after the interrupt are never read, however much is read ahead.
    node.inject(
      'silent',
      { kind: 'silent' },
      (request) => {
        if (at('getBlock', slots[22])(request)) interrupt.abort()
        return request.method === 'getBlock' && Number(request.params[0]) >= slots[22]!
      },
      Infinity
    )
    const stopped = await backfilling(node, dataDir, undefined, FAST, interrupt.signal)
    t.equal(stopped.code, 1)
    t.match(stopped.stderr, /interrupted; rerun the command to continue/)
    node.forgive()
    for (const [point, count] of [
      ['facts', 1],
      ['blocks', 1]
    ] as const) {
      const program = join(import.meta.dirname, 'import-child.ts')
      const own = [point, String(count), `${dataDir}-own-${point}-${count}`]
      // The runner's own settings would be unknown to the command.
      const child = spawn(process.execPath, [program, ...own, ...wordsOf(node, dataDir)], { env: {} })
      t.same(await once(child, 'exit'), [null, 'SIGKILL'], `${point} ${count}`)
    }
    const { code, stderr } = await backfilling(node, dataDir)
    t.equal(code, 0, stderr)
    t.same(await withoutGenesis(dataDir), imported)
    // The chain is compared at the first and the newest archived block.
    for (const slot of slots.slice(1, 12))
      t.equal(node.asked('getBlock').filter(at('getBlock', slot)).length, 1, `slot ${slot}`)
  }
)

t.test('ranges in any order give the rows of one import', async (t) => {
  const node = await FaultyNode.start(t, blocks)
  const dataDir = dataFolder()
  for (const [from, to] of [
    [slots[10]!, slots[19]!],
    [slots[25]!, last],
    [first, slots[14]!]
  ]) {
    const { code, stderr } = await backfilling(node, dataDir, `${from}..${to}`)
    t.equal(code, 0, stderr)
  }
  const { code, lines } = await backfilling(node, dataDir)
  t.match([code, lines[0]], [0, /^5 blocks with/], 'the others are stored')
  t.same(await withoutGenesis(dataDir), imported)
})

t.test('slots without a block are passed over, and the archive has no gap there', async (t) => {
  const some = Array.from({ length: 60 }, (_, n) => 100 + n).filter((slot) => slot % 5 !== 0 || slot === 100)
  const node = await FaultyNode.start(t, jsonChain(some))
  const dataDir = dataFolder()
  const { code, lines } = await backfilling(node, dataDir, '100..155')
  t.match([code, lines[0]], [0, '45 blocks with 0 trades are added'])
  const again = await backfilling(node, dataDir, '100..155')
  t.match([again.code, again.lines[0]], [0, '0 blocks with 0 trades are added'])
})

t.test('blocks that the node lacks are named and left out, and a later run adds them', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(Array.from({ length: 20 }, (_, n) => 100 + n)))
  const dataDir = dataFolder()
  node.firstSlot = 106
  const lacking = await backfilling(node, dataDir, '103..110')
  t.match([lacking.code, lacking.lines[0]], [1, '5 blocks with 0 trades are added'])
  t.match(lacking.stderr, /slots 103 to 105 cannot be read \(pruned\): /)
  t.match(lacking.stderr, /rerun the command to retry the missing blocks/)
  node.firstSlot = 0
  const late = await backfilling(node, dataDir, '100..119')
  t.match([late.code, late.lines[0]], [0, '15 blocks with 0 trades are added'])
  t.match(late.lines.at(-1), /^the archive has slots 100 to 119,/)
  const beyond = await backfilling(node, dataDir, '110..130')
  t.equal(beyond.code, 1)
  t.match(beyond.stderr, /the nodes end at slot 119/)
})

t.test('the range ends before the first indexed slot, and another chain is refused', async (t) => {
  const node = await FaultyNode.start(t, blocks)
  const dataDir = dataFolder()
  const boundary = slots[20]!
  await fillLive(await openStore(configIn(dataDir)), boundary)
  const { code, lines, stderr } = await backfilling(node, dataDir)
  t.match([code, lines[0]], [0, /^20 blocks/])
  t.match(stderr, new RegExp(`slots ${boundary} to ${last} are left out, because the index has them`))
  const foreign = new Map(blocks)
  foreign.set(boundary, { ...blocks.get(boundary)!, blockhash: 'another' })
  const other = await FaultyNode.start(t, foreign)
  const refused = await backfilling(other, dataDir)
  t.equal(refused.code, 1)
  t.match(refused.stderr, new RegExp(`block ${boundary} is another at the node`))
  other.genesis = 'genesis-b'
  t.match(
    (await backfilling(other, dataDir)).stderr,
    /the node is of the genesis genesis-b, the archive of genesis-a/
  )
})

t.test('a venue that is added later is in all blocks, which are not read again', async (t) => {
  const node = await FaultyNode.start(t, blocks)
  const [dataDir, both] = [dataFolder(), dataFolder()]
  const few = await backfilling(node, dataDir, `${first}..${slots[9]}`, [...FAST, '--venues', 'pumpfun'])
  t.equal(few.code, 0)
  const more = ['--venues', 'pumpfun,pumpswap']
  const { code, lines } = await backfilling(node, dataDir, undefined, [...FAST, ...more])
  t.match([code, lines[0]], [0, new RegExp(`^${slots.length - 10} blocks with`)])
  await runCommand(['archive', 'import', directory, '--data-dir', both, ...more])
  t.same(await withoutGenesis(dataDir), await withoutGenesis(both))
})

t.test('requests stay within their share', async (t) => {
  const node = await FaultyNode.start(t, blocks)
  const beganMs = performance.now()
  const { code } = await backfilling(node, dataFolder(), undefined, ['--requests-per-second', '20'])
  t.equal(code, 0)
  const seconds = (performance.now() - beganMs) / 1_000
  t.ok(node.requests.length >= slots.length)
  t.ok(seconds >= (node.requests.length - 20) / 20 - 0.1, `${node.requests.length} requests in ${seconds} s`)
  t.equal(REQUESTS_PER_SECOND, 5)
})

t.test('bad usage is refused by name, and nothing is opened', async (t) => {
  const node = await FaultyNode.start(t, blocks)
  for (const [words, complaint] of [
    [['9'], /give the first and the last slot/],
    [['9..8'], /give the first and the last slot/],
    [['1..2', '--requests-per-second', '0'], /--requests-per-second is 0/],
    [['1..2', '--requests-per-second', '1.5'], /--requests-per-second is 1.5/],
    [['1..2', '--requests-per-second', '1001'], /--requests-per-second is 1001/],
    [['1..2', '--venues', 'serum'], /serum/]
  ] as const) {
    const said = await runCommand(['archive', 'backfill', ...words, '--archive-rpc-url', node.url])
    t.equal(said.code, 2, words.join(' '))
    t.match(said.stderr, complaint)
  }
  const without = await runCommand(['archive', 'backfill', '1..2'])
  t.equal(without.code, 2)
  t.match(without.stderr, /MILLRACE_ARCHIVE_RPC_URL/)
  t.equal(node.requests.length, 0)
})
