/**
 * Compares decoding with solana-dex-parser on recorded transactions, parsed from JSON once, in alternate rounds of one run.
 * Both start at the parsed JSON. Prints transactions per second on one core, the ratio, and the number of trades that each
 * side finds.
 *
 *     node loadtest/decode.ts [seconds]
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DexParser } from 'solana-dex-parser'
import { decodeTransaction } from '../src/chain/decode.ts'
import { readRpcTransaction } from '../src/chain/rpc/transaction.ts'
import { fixturesDirectory, listFixtures } from './fixtures.ts'
import { compareTrades } from './decode-differences.ts'
import { reported, writeResult } from './result.ts'

type PeerTransaction = Parameters<DexParser['parseAll']>[0]

const secondsPerSide = Number(process.argv[2] ?? 6)
const directory = fixturesDirectory()
const texts = listFixtures(directory, 'tx').map((file) => readFileSync(join(directory, file), 'utf8'))
// Each side gets its own objects, so that neither benefits from values that the other has cached in them.
const ours = texts.map((text) => JSON.parse(text) as unknown)
const peers = texts.map((text) => JSON.parse(text) as PeerTransaction)
const peer = new DexParser()

function decodeOurs(): number {
  let events = 0
  for (const value of ours) {
    const outcome = readRpcTransaction(value)
    if (outcome.kind === 'transaction') events += decodeTransaction(outcome.transaction).events.length
  }
  return events
}

function decodePeer(): number {
  let events = 0
  for (const value of peers) {
    const result = peer.parseAll(value)
    events += result.trades.length + result.liquidities.length + result.memeEvents.length
  }
  return events
}

function decodePeerTradesOnly(): number {
  let events = 0
  for (const value of peers) events += peer.parseTrades(value).length
  return events
}

const sides = {
  millrace: decodeOurs,
  'solana-dex-parser': decodePeer,
  'solana-dex-parser, trades only': decodePeerTradesOnly
}
const spent: Record<string, { ms: number; transactions: number; events: number }> = {}
for (const [name, decode] of Object.entries(sides)) {
  decode()
  spent[name] = { ms: 0, transactions: 0, events: decode() }
}
while (Object.values(spent).some(({ ms }) => ms < secondsPerSide * 1000)) {
  for (const [name, decode] of Object.entries(sides)) {
    const side = spent[name]!
    const started = performance.now()
    do {
      decode()
      side.transactions += texts.length
    } while (performance.now() - started < 500)
    side.ms += performance.now() - started
  }
}

const rates = Object.fromEntries(
  Object.entries(spent).map(([name, { ms, transactions }]) => [name, Math.round((transactions / ms) * 1000)])
)
reported('transactions_per_second', rates)
const differences = compareTrades(ours, peers)

await writeResult('decode', {
  transactions: texts.length,
  transactions_per_second: rates,
  ratio_to_all: rates.millrace! / rates['solana-dex-parser']!,
  ratio_to_trades_only: rates.millrace! / rates['solana-dex-parser, trades only']!,
  bar: 20,
  // Millrace decodes everything in both comparisons; the peer's `trades only` mode does less.
  reached: {
    all: rates.millrace! / rates['solana-dex-parser']! >= 20,
    trades_only: rates.millrace! / rates['solana-dex-parser, trades only']! >= 20
  },
  events: Object.fromEntries(Object.entries(spent).map(([name, { events }]) => [name, events])),
  trades: differences
})
