import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { run as runCommand } from '../../src/kernel/cli/run.ts'
import { PROGRAM } from '../../src/program.ts'
import { BlockFolder } from '../../src/node/block-folder.ts'
import type { SlotGap } from '../../src/node/chain-node.ts'
import { RpcClient } from '../../src/node/rpc-client.ts'
import { RpcNode } from '../../src/node/rpc-node.ts'
import { nodeAddresses } from '../../src/node/node-address.ts'
import { Recording } from '../../src/node/recording.ts'
import { systemPorts } from '../../src/ports.ts'
import { readRecorded } from '../../src/recorded/read.ts'
import { scanRecorded } from '../../src/recorded/scan.ts'
import { at, FaultyNode, jsonChain } from '../node/faulty-node.ts'
import { range } from '../node/scripted-node.ts'

const SLOTS = range(100, 160).filter((slot) => slot % 7 !== 0)

interface Ran {
  readonly code: number
  readonly out: string[]
  readonly err: string[]
}

async function run(args: readonly string[], interrupted = new AbortController().signal): Promise<Ran> {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(
    ['record', ...args],
    {
      stdout: (line) => void out.push(line),
      stderr: (line) => void err.push(line),
      stdin: process.stdin,
      yieldProcessor: () => undefined,
      interrupted
    },
    PROGRAM
  )
  return { code, out, err }
}

function flags(node: FaultyNode, directory: string): string[] {
  return ['--rpc-url', node.url, '--recorded-dir', directory]
}

/** Returns the slots of a folder's blocks as a recorded source delivers them. */
async function recordedSlots(directory: string): Promise<number[]> {
  const index = await scanRecorded(directory)
  const slots: number[] = []
  for await (const { slot } of readRecorded(index)) slots.push(slot)
  return slots
}

t.test('blocks are downloaded into a folder that a recorded source reads', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  const directory = join(t.testdir(), 'new', 'folder')
  const { code, out, err } = await run(['110..140', ...flags(node, directory)])
  const due = SLOTS.filter((slot) => slot >= 110 && slot <= 140)
  t.equal(code, 0, err.join('\n'))
  t.same(await recordedSlots(directory), due)
  t.same(
    readdirSync(directory).sort(),
    due.map((slot) => `${slot}.json.gz`),
    'a file each, and nothing else'
  )
  const text = gunzipSync(readFileSync(join(directory, '111.json.gz'))).toString()
  t.match(JSON.parse(text), { jsonrpc: '2.0', result: { blockhash: 'h111' } }, 'as the node gave it')
  t.same(out, [
    `${due.length} blocks of slots 110 to 140 are in ${directory}: ${due.length} new, 0 there before`
  ])
  t.match(
    err.at(-1),
    new RegExp(`^slot 139, 96 %: ${due.length} blocks downloaded, 0 there before, .* MB, .* blocks/s$`)
  )
  t.match(node.asked('getBlock')[0]?.params[1], { commitment: 'finalized', encoding: 'base64' })
})

t.test('run again, only what is not there is downloaded; what is torn is found and redone', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  const directory = t.testdir()
  await run(['100..130', ...flags(node, directory)])
  truncateSync(join(directory, '111.json.gz'), 60)
  truncateSync(join(directory, '115.json.gz'), 0)
  writeFileSync(join(directory, '120.json.gz'), readFileSync(join(directory, '121.json.gz')).subarray(0, 90))
  writeFileSync(join(directory, '122.json.gz.part'), 'half a block')
  writeFileSync(join(directory, 'notes.txt'), 'kept')
  const before = node.asked('getBlock').length
  const { code, out, err } = await run(['100..140', ...flags(node, directory)])
  t.equal(code, 0)
  t.same(
    node
      .asked('getBlock')
      .slice(before)
      .map(({ params }) => params[0]),
    SLOTS.filter((slot) => [111, 115, 120].includes(slot) || (slot > 130 && slot <= 140))
  )
  t.same(
    err.filter((line) => line.includes('incomplete')).sort(),
    [111, 115, 120].map((slot) => `millrace: ${slot}.json.gz is incomplete and is redownloaded`)
  )
  t.match(out[0], /35 blocks .*: 11 new, 24 there before/)
  t.same(
    await recordedSlots(directory),
    SLOTS.filter((slot) => slot <= 140)
  )
  t.notOk(readdirSync(directory).includes('122.json.gz.part'))
  t.ok(readdirSync(directory).includes('notes.txt'))
})

t.test('an interrupted download goes on where it was', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  node.inject('slow', { kind: 'slow', ms: 20 }, at('getBlock'), Infinity)
  const directory = t.testdir()
  const interrupt = new AbortController()
  const running = run(['100..160', ...flags(node, directory)], interrupt.signal)
  while (node.asked('getBlock').length < 20) await new Promise((resolve) => setImmediate(resolve))
  interrupt.abort()
  const { code, err } = await running
  t.equal(code, 1)
  t.match(err.at(-1), 'millrace: interrupted; rerun the command to continue')
  const had = readdirSync(directory).filter((name) => name.endsWith('.gz')).length
  t.ok(had > 0 && had < SLOTS.length, `${had} were there`)
  node.forgive()
  const again = await run(['100..160', ...flags(node, directory)])
  t.equal(again.code, 0)
  t.match(again.out[0], new RegExp(`${SLOTS.length - had} new, ${had} there before`))
  t.same(await recordedSlots(directory), SLOTS)
})

t.test('faults of a node cost tries and no block', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  node.inject('500', { kind: 'status', status: 500 }, at('getBlock', 104))
  node.inject('cut', { kind: 'cut-gzip' }, at('getBlock', 108))
  node.inject('drop', { kind: 'truncate' }, at('getBlock', 113))
  node.inject('garbage', { kind: 'body', body: '{' }, at('getBlock', 116))
  const directory = t.testdir()
  t.equal((await run(['100..160', ...flags(node, directory)])).code, 0)
  t.same(node.unfired, [])
  t.same(await recordedSlots(directory), SLOTS)
})

/** Runs a recording with short timeouts. */
async function recordSoon(t: Test, nodes: readonly FaultyNode[], from: number, to: number) {
  const { clock } = systemPorts
  const archives = nodes.map((_, index) => index > 0)
  const direct = nodeAddresses(nodes.map(({ url }) => url)).map(
    (address, index) =>
      new RpcNode(new RpcClient(address, clock, { requestsPerSecond: Infinity }), clock, {
        commitment: 'finalized',
        isArchive: archives[index]!,
        keepBody: true
      })
  )
  const directory = t.testdir()
  const { signal } = new AbortController()
  const folder = await BlockFolder.open(directory, from, to, signal)
  const gaps: SlotGap[] = []
  const options = { from, to, prefetch: 4, giveUpMs: 300, ports: systemPorts, onBlock: () => undefined }
  const recording = new Recording(direct, folder, { ...options, onGap: (gap) => void gaps.push(gap) })
  await recording.run(signal)
  for (const node of direct) await node.close()
  return { slots: await recordedSlots(directory), gaps, counts: recording.counts }
}

t.test('pruned blocks come from the archive; those that no node has are reported', async (t) => {
  const chain = jsonChain(SLOTS)
  const [node, archive] = [await FaultyNode.start(t, chain), await FaultyNode.start(t, chain)]
  node.firstSlot = 140
  archive.firstSlot = 120
  const { slots, gaps, counts } = await recordSoon(t, [node, archive], 100, 160)
  t.same(
    slots,
    SLOTS.filter((slot) => slot >= 120)
  )
  t.match(gaps, [{ from: 100, to: 118, reason: 'pruned' }])
  t.equal(counts.missing, 1)
})

t.test('a block that the node does not list is found by the block that follows it', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  const listed = SLOTS.filter((slot) => ![122, 123, 124].includes(slot))
  node.inject('list', { kind: 'result', result: listed }, at('getBlocksWithLimit'))
  const { slots, gaps } = await recordSoon(t, [node], 100, 160)
  t.same(slots, SLOTS)
  t.same(gaps, [])
  t.equal(node.fired.get('list'), 1)
})

t.test('a node that gives nothing any more ends the download before the end of the range', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  node.inject(
    '500',
    { kind: 'status', status: 500 },
    (request) => request.method === 'getBlock' && (request.params[0] as number) > 110,
    Infinity
  )
  const { slots, gaps, counts } = await recordSoon(t, [node], 100, 160)
  t.same(
    slots,
    SLOTS.filter((slot) => slot <= 110)
  )
  t.equal(counts.isStopped, true)
  t.equal(gaps.length, 16)
})

t.test('orders that cannot be carried out are said in a line, and end with 2', async (t) => {
  const directory = t.testdir()
  const rest = ['--rpc-url', 'http://127.0.0.1:1', '--recorded-dir', directory]
  for (const bad of [[], ['5'], ['9..5'], ['a..b'], ['1..2..3'], ['1..']]) {
    const { code, err } = await run([...bad, ...rest])
    t.equal(code, 2, bad.join(' '))
    t.match(err.join('\n'), /FROM\.\.TO/)
  }
  t.match(await run(['1..5', '--rpc-url', 'http://127.0.0.1:1']), { code: 2, err: [/MILLRACE_RECORDED_DIR/] })
  t.match(await run(['1..5', '--recorded-dir', directory]), { code: 2, err: [/MILLRACE_RPC_URL/] })
  t.match(await run(['1..5', '--no-such', 'x']), { code: 2, err: [/no-such/] })
})

t.test('nodes that cannot be used are said in a line each, without what is secret', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  const [refusing, other, late] = [
    await FaultyNode.start(t, jsonChain(SLOTS)),
    await FaultyNode.start(t, jsonChain(SLOTS)),
    await FaultyNode.start(t, jsonChain(SLOTS))
  ]
  refusing.inject('refusal', { kind: 'status', status: 403 }, undefined, Infinity)
  other.genesis = 'another'
  late.headSlot = 120
  const directory = join(t.testdir(), 'blocks')
  mkdirSync(directory)
  const urls = [node.url, `${refusing.url}/t0p-s3cr3t`, other.url, late.url, 'http://127.0.0.1:1'].join(',')
  const { code, err } = await run(['100..160', '--rpc-url', urls, '--recorded-dir', directory])
  t.equal(code, 0)
  t.match(err.slice(0, 4), [
    `millrace: ${refusing.name}: refuses requests with HTTP 403: check the token in its URL`,
    `millrace: ${other.name} belongs to another cluster and is not used: another`,
    `millrace: ${late.name} is at slot 120 and has not reached 160`,
    /millrace: 127.0.0.1:1: unreachable/
  ])
  t.notMatch(err.join('\n'), 't0p-s3cr3t')
  t.same(await recordedSlots(directory), SLOTS)
  t.equal(other.asked('getBlock').length, 0)
  t.equal((await run(['100..160', '--rpc-url', refusing.url, '--recorded-dir', directory])).code, 1)
})
