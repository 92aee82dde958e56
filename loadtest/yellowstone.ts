/**
 * Compares the source of a Yellowstone stream with the bare client, which only receives the same stream, over loopback. The
 * stream is the recorded mainnet block under new slots; rounds alternate within one process, and the server has another.
 * The unit is non-vote transactions per second of processor time, all threads.
 *
 *     node loadtest/yellowstone.ts [blocks a round]
 */
import Client, {
  CommitmentLevel,
  type SubscribeRequest,
  type SubscribeUpdate
} from '@triton-one/yellowstone-grpc'
import { pino } from 'pino'
import type { ProcessScope } from '../actors/supervision/process.ts'
import { yellowstoneSource, type YellowstoneSource } from '../actors/ingest/yellowstone-source.ts'
import { decodeTransactions } from '../src/chain/decode-block.ts'
import { readRpcBlock } from '../src/chain/rpc/block.ts'
import type { Block } from '../src/chain/transaction.ts'
import { systemPorts } from '../src/ports.ts'
import { loadYellowstone, openStreams } from '../src/yellowstone/client.ts'
import { readUpdate } from '../src/yellowstone/read-block.ts'
import { encodeBlock, encodeUpdate, updateBlock } from '../test/yellowstone/encode-block.ts'
import { StreamServer, type Subscription } from '../test/yellowstone/stream-server.ts'
import { startMeasured } from './measured-process.ts'
import { RECORDED_SLOT, recordedBlockText } from './recorded-block.ts'
import { writeResult } from './result.ts'

const ROUNDS = 4

/** Returns the recorded block as a message whose slot is changed in place. */
function repeatedBlock() {
  const whole = updateBlock(JSON.parse(recordedBlockText()), RECORDED_SLOT)
  const message = encodeBlock({ ...whole, parentBlockhash: whole.blockhash })
  // Both numbers take four bytes as varints here, and for all slots up to 2^28.
  const slotAt = message.indexOf(varint(RECORDED_SLOT))
  const parentAt = message.indexOf(varint(RECORDED_SLOT - 1))
  return {
    whole,
    message,
    of(slot: number): Buffer {
      const copy = Buffer.from(message)
      varint(slot).copy(copy, slotAt)
      varint(slot - 1).copy(copy, parentAt)
      return copy
    }
  }
}

function varint(value: number): Buffer {
  return Buffer.from([value | 0x80, (value >> 7) | 0x80, (value >> 14) | 0x80, (value >> 21) & 0x7f])
}

/** Sends a round of blocks to each subscription: whole, or as transactions without votes and a meta for each block. */
async function serve(blocks: number): Promise<void> {
  const block = repeatedBlock()
  const transactions = block.whole.transactions
    .filter(({ isVote }) => !isVote)
    .map((transaction) => encodeUpdate({ transaction: { slot: String(RECORDED_SLOT), transaction } }))
  const { slot, blockhash, blockTime, parentSlot, parentBlockhash, executedTransactionCount } = block.whole
  const meta = encodeUpdate({
    blockMeta: { slot, blockhash, blockTime, parentSlot, parentBlockhash, executedTransactionCount }
  })
  const server = await StreamServer.start(async (subscription: Subscription) => {
    const inParts = Object.keys(subscription.request.transactions).length > 0
    for (let nth = 0; nth < blocks && !subscription.isOver; nth++) {
      if (!inParts) await subscription.send(block.of(RECORDED_SLOT + 1 + nth))
      else for (const message of [...transactions, meta]) await subscription.send(message)
    }
  })
  process.stdout.write(`listening on ${server.url}\n`)
  process.once('SIGTERM', () => server.close())
}

const request: SubscribeRequest = {
  accounts: {},
  slots: {},
  transactions: {},
  transactionsStatus: {},
  blocks: { blocks: { accountInclude: [], includeTransactions: true } },
  blocksMeta: {},
  entry: {},
  accountsDataSlice: [],
  commitment: CommitmentLevel.CONFIRMED
}
const inParts: SubscribeRequest = {
  ...request,
  blocks: {},
  transactions: { all: { vote: false, accountInclude: [], accountExclude: [], accountRequired: [] } },
  blocksMeta: { all: {} }
}

/** The package's types declare a CommonJS default export, which the module does not have. */
const BareClient = Client as unknown as (typeof Client)['default']

/** Receives as the package's README shows: decodes every message and drops it. */
async function receiveBare(url: string, count: number, wanted = request): Promise<void> {
  const client = new BareClient(url, undefined, { grpcMaxDecodingMessageSize: 2 ** 27 })
  await client.connect()
  const stream = await client.subscribe(wanted)
  let blocks = 0
  for await (const update of stream as AsyncIterable<SubscribeUpdate>) {
    if (update.block !== undefined || update.blockMeta !== undefined) blocks++
    if (blocks === count) break
  }
  stream.destroy()
}

/** Receives the bytes of each message without decoding them: the least work possible. */
async function receiveBytes(url: string, count: number): Promise<void> {
  const stream = await openStreams({ url, token: undefined, commitment: 'confirmed' })(null)
  for (let blocks = 0; blocks < count; blocks++) await stream.read()
  stream.close()
}

/** Runs the source as the service does, and passes each block to `take`. */
async function readBlocks(url: string, count: number, take: (block: Block) => void): Promise<void> {
  const end = new AbortController()
  let source: YellowstoneSource | undefined
  const scope: ProcessScope<unknown, YellowstoneSource> = {
    input: {},
    draining: end.signal,
    signal: end.signal,
    ready: (gives) => (source = gives),
    show: () => undefined,
    gauge: () => undefined,
    supervises: () => undefined,
    report: (error) => process.stderr.write(`${String(error)}\n`)
  }
  const options = {
    url,
    token: undefined,
    head: async () => null,
    askNodes: null,
    commitment: 'confirmed',
    fetchMissing: null,
    onGap: () => {
      throw new Error('the stream reported a gap')
    }
  } as const
  const done = yellowstoneSource(options, { ...systemPorts, logger: pino({ level: 'error' }) })(scope)
  let blocks = 0
  for await (const { block } of source!.blocks({ after: RECORDED_SLOT, signal: end.signal })) {
    if (block.slot !== RECORDED_SLOT + 1 + blocks) throw new Error(`slot ${block.slot} out of order`)
    take(block)
    if (++blocks === count) break
  }
  end.abort()
  await done
}

async function measure(blocks: number): Promise<void> {
  await loadYellowstone()
  const { message } = repeatedBlock()
  const update = readUpdate(message)
  const polled = readRpcBlock(JSON.parse(recordedBlockText()), RECORDED_SLOT)
  if (update.kind !== 'block' || polled.kind !== 'block') throw new Error('the recorded block cannot be read')
  const { transactions, votes } = update.block
  const eventsExpected = decodeTransactions(polled.block.transactions).entries.length * blocks
  let events = 0
  const decode = (block: Block): void =>
    void (events += decodeTransactions(block.transactions).entries.length)
  const server = await startMeasured('yellowstone.ts', ['serve', String(blocks)])
  const sides: Record<string, () => Promise<void>> = {
    bare_client: () => receiveBare(server.url, blocks),
    bare_bytes: () => receiveBytes(server.url, blocks),
    bare_client_in_parts: () => receiveBare(server.url, blocks, inParts),
    millrace_blocks: () => readBlocks(server.url, blocks, () => undefined),
    millrace_events: () => readBlocks(server.url, blocks, decode)
  }
  const spent: Record<string, { cpuMs: number; wallMs: number }> = {}
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, run] of Object.entries(sides)) {
      const cpu = process.cpuUsage()
      const started = performance.now()
      await run()
      const { user, system } = process.cpuUsage(cpu)
      // The first round is the warm-up.
      if (round === 0) continue
      const side = (spent[name] ??= { cpuMs: 0, wallMs: 0 })
      side.cpuMs += (user + system) / 1000
      side.wallMs += performance.now() - started
    }
  }
  await server.end()
  const total = transactions.length * blocks * ROUNDS
  const each = <T>(of: (side: { cpuMs: number; wallMs: number }) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(spent).map(([name, side]) => [name, of(side)]))
  const perCore = each(({ cpuMs }) => Math.round((total / cpuMs) * 1000))
  const ratio = (name: string, to: string): number => perCore[name]! / perCore[to]!
  await writeResult('yellowstone', {
    blocks_a_round: blocks,
    rounds: ROUNDS,
    block: {
      bytes: message.length,
      transactions: transactions.length + votes,
      not_votes: transactions.length
    },
    not_vote_transactions_per_core_second: perCore,
    not_vote_transactions_per_second: each(({ wallMs }) => Math.round((total / wallMs) * 1000)),
    cpu_ms_a_block: each(({ cpuMs }) => cpuMs / blocks / ROUNDS),
    ratio_to_bare_client: {
      blocks: ratio('millrace_blocks', 'bare_client'),
      events: ratio('millrace_events', 'bare_client')
    },
    ratio_to_bare_bytes: {
      blocks: ratio('millrace_blocks', 'bare_bytes'),
      events: ratio('millrace_events', 'bare_bytes')
    },
    bar: 0.5,
    reached: ratio('millrace_events', 'bare_client') >= 0.5,
    verified_complete: events === eventsExpected * (ROUNDS + 1)
  })
  if (events !== eventsExpected * (ROUNDS + 1)) process.exitCode = 1
}

if (process.argv[2] === 'serve') await serve(Number(process.argv[3]))
else await measure(Number(process.argv[2] ?? 60))
