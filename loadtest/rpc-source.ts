/**
 * Measures blocks from a polled node, from its answers to decoded blocks in strict order. Beside it, in alternate rounds of
 * one run: fetch and JSON.parse of the same answers with the same concurrency. The bar is 70 % of that. Also measures the
 * cost of reading each encoding of a block.
 *
 *     node loadtest/rpc-source.ts [blocks a round]
 */
import { gzipSync } from 'node:zlib'
import { VersionedTransaction } from '@solana/web3.js'
import { pino } from 'pino'
import { rpcSource, type RpcSource } from '../actors/ingest/rpc-source.ts'
import { encodeBase58 } from '../src/chain/base58.ts'
import { decodeTransactions } from '../src/chain/decode-block.ts'
import { BLOCK_PARAMS } from '../src/node/rpc-node.ts'
import { systemPorts } from '../src/ports.ts'
import { startMeasured } from './measured-process.ts'
import { LIVE, readBlock, RECORDED_SLOT, recordedBlockText } from './recorded-block.ts'
import { writeResult } from './result.ts'

const blocks = Number(process.argv[2] ?? 40)
const ROUNDS = 4
const IN_FLIGHT = 8
const ENCODING_RUNS = 12
const text = recordedBlockText()
const recorded = JSON.parse(text) as { readonly transactions: readonly Entry[] }
const expected = readBlock(recorded)

interface Entry {
  readonly transaction: readonly [string, string]
}

interface Spent {
  ms: number
  cpuMs: number
  blocks: number
}

const node = await startMeasured('block-node.ts', [String(RECORDED_SLOT + blocks)])
const end = new AbortController()
const source = await startSource()
const ours: Spent = { ms: 0, cpuMs: 0, blocks: 0 }
const bare: Spent = { ms: 0, cpuMs: 0, blocks: 0 }
// The first round of each is its warm-up.
for (let round = 0; round <= ROUNDS; round++) {
  const counted = round > 0
  await timed(counted ? bare : null, fetchAll)
  await timed(counted ? ours : null, readAll)
}
end.abort()
await node.end()

async function startSource(): Promise<RpcSource> {
  const logger = pino({ level: 'silent' })
  const options = {
    urls: [node.url],
    archiveUrls: [],
    commitment: 'confirmed',
    expectedGenesis: async () => 'recorded',
    onGenesis: async () => undefined,
    onGap: ({ from, to }: { from: number; to: number }) => {
      throw new Error(`slots ${from} to ${to} are missing`)
    },
    // The node's head does not move here, so the source must not take it for stalled.
    tuning: { stallMs: 600_000, client: { requestsPerSecond: Infinity, concurrency: IN_FLIGHT } }
  } as const
  const started = await new Promise<RpcSource>((resolve) => {
    void rpcSource(options, { ...systemPorts, logger })({
      input: {},
      draining: end.signal,
      signal: end.signal,
      ready: resolve,
      show: () => undefined,
      gauge: () => undefined,
      supervises: () => undefined,
      report: () => undefined
    })
  })
  while (started.status.state !== 'advancing') await new Promise((resolve) => setTimeout(resolve, 5))
  return started
}

/** Reads all blocks through the source. Throws unless they are complete and in order. */
async function readAll(): Promise<void> {
  let slot = RECORDED_SLOT
  const leave = new AbortController()
  for await (const { block } of source.blocks({ after: slot, signal: leave.signal })) {
    if (block.slot !== ++slot || block.transactions.length !== expected.transactions.length)
      throw new Error(
        `slot ${block.slot} came instead of ${slot}, with ${block.transactions.length} transactions`
      )
    if (slot === RECORDED_SLOT + blocks) break
  }
  leave.abort()
}

/** Fetches and parses the same answers with the same concurrency. */
async function fetchAll(): Promise<void> {
  let slot = RECORDED_SLOT
  const ask = async (): Promise<void> => {
    while (slot < RECORDED_SLOT + blocks) {
      const params = [++slot, { ...BLOCK_PARAMS, commitment: 'confirmed' }]
      const response = await fetch(node.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: slot, method: 'getBlock', params })
      })
      const { result } = JSON.parse(await response.text()) as { result: typeof recorded }
      if (result.transactions.length !== recorded.transactions.length)
        throw new Error('the answer has other transactions than the recorded block')
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask))
}

async function timed(spent: Spent | null, run: () => Promise<void>): Promise<void> {
  const started = performance.now()
  const cpu = process.cpuUsage()
  await run()
  if (spent === null) return
  const { user, system } = process.cpuUsage(cpu)
  spent.ms += performance.now() - started
  spent.cpuMs += (user + system) / 1000
  spent.blocks += blocks
}

/** Returns the block as a node sends it in encoding `json`. */
function inJson(): string {
  const transactions = recorded.transactions.map((entry) => {
    const { signatures, message } = VersionedTransaction.deserialize(
      Buffer.from(entry.transaction[0], 'base64')
    )
    return {
      ...entry,
      transaction: {
        signatures: signatures.map((signature) => encodeBase58(signature)),
        message: {
          header: message.header,
          accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
          recentBlockhash: message.recentBlockhash,
          instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
            programIdIndex,
            accounts: accountKeyIndexes,
            data: encodeBase58(data),
            stackHeight: null
          })),
          ...(message.version === 0 && {
            addressTableLookups: message.addressTableLookups.map((lookup) => ({
              accountKey: lookup.accountKey.toBase58(),
              writableIndexes: lookup.writableIndexes,
              readonlyIndexes: lookup.readonlyIndexes
            }))
          })
        }
      }
    }
  })
  return JSON.stringify({ ...recorded, transactions })
}

/**
 * Returns the processor milliseconds that each form of a block costs, in alternate rounds: parsed, read, and decoded to
 * events.
 */
function encodingCosts(forms: Readonly<Record<string, string>>) {
  const steps = {
    parse_cpu_ms: (block: string) => void JSON.parse(block),
    parse_and_read_cpu_ms: (block: string) => void readBlock(JSON.parse(block)),
    parse_read_and_decode_cpu_ms: (block: string) =>
      void decodeTransactions(readBlock(JSON.parse(block)).transactions)
  }
  const costs: Record<string, Record<string, number>> = {}
  for (const [name, block] of Object.entries(forms)) {
    if (readBlock(JSON.parse(block)).transactions.length !== expected.transactions.length)
      throw new Error(`${name} has other transactions than the recorded block`)
    costs[name] = { bytes: Buffer.byteLength(block), gzip_bytes: gzipSync(block).length }
  }
  for (let run = 0; run <= ENCODING_RUNS; run++) {
    for (const [name, block] of Object.entries(forms)) {
      for (const [step, work] of Object.entries(steps)) {
        const cpu = process.cpuUsage()
        work(block)
        const { user, system } = process.cpuUsage(cpu)
        // The first run is the warm-up.
        if (run > 0) costs[name]![step] = (costs[name]![step] ?? 0) + (user + system) / 1000 / ENCODING_RUNS
      }
    }
  }
  return costs
}

const perSecond = (spent: Spent): number => (spent.blocks * 1000) / spent.ms
const ratio = perSecond(ours) / perSecond(bare)
const nonVote = expected.transactions.length
await writeResult('rpc-source', {
  blocks: ours.blocks,
  transactions_a_block: { total: nonVote + expected.votes, not_votes: nonVote },
  under_way_at_once: IN_FLIGHT,
  blocks_per_second: { millrace: perSecond(ours), bare_fetch_and_parse: perSecond(bare) },
  not_vote_transactions_per_second: Math.round(perSecond(ours) * nonVote),
  times_live_rate: (perSecond(ours) * nonVote) / (LIVE.transactionsPerBlock * LIVE.blocksPerSecond),
  cpu_ms_a_block: { millrace: ours.cpuMs / ours.blocks, bare_fetch_and_parse: bare.cpuMs / bare.blocks },
  ratio,
  bar: 0.7,
  reached: ratio >= 0.7,
  encodings: encodingCosts({ base64: text, json: inJson() })
})
if (ratio < 0.7) process.exitCode = 1
