import { AGGREGATORS } from '../../../src/chain/aggregators.ts'
import { collectCalls } from '../../../src/chain/calls.ts'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { ChainEvent, Trade } from '../../../src/chain/events.ts'
import type { Invocation } from '../../../src/chain/invocation.ts'
import type { Layout } from '../../../src/chain/layout.ts'
import { pubkeyFromBase58, pubkeyMapKey, samePubkey } from '../../../src/chain/pubkey.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import { VENUES_BY_PROGRAM } from '../../../src/chain/venues.ts'

const WRAPPED_SOL = pubkeyFromBase58('So11111111111111111111111111111111111111112')

/** Returns the features that a transaction is an example of, in words. A selection of facts covers every known feature. */
export function featuresOf(transaction: Transaction, loadedKeys: number): Set<string> {
  const { events, notes } = decodeTransaction(transaction)
  const { calls, unplaced } = collectCalls(transaction, VENUES_BY_PROGRAM)
  const features = new Set(formFeatures(transaction, loadedKeys))
  for (const call of [...calls, ...unplaced]) {
    const { failed } = transaction
    for (const feature of failed ? [`failed call of ${call.venue.id}`] : callFeatures(call))
      features.add(feature)
  }
  for (const event of events) for (const feature of eventFeatures(event)) features.add(feature)
  for (const note of notes) {
    features.add(`${note.venue} note ${note.kind}${note.kind === 'missing' ? ` ${note.reason}` : ''}`)
  }
  for (const feature of routeFeatures(transaction, events)) features.add(feature)
  return features
}

function* formFeatures(transaction: Transaction, loadedKeys: number): Iterable<string> {
  const { version, logs, index, instructions } = transaction
  const balances = [...transaction.preTokenBalances, ...transaction.postTokenBalances]
  yield `version ${version}`
  if (version === 0) yield loadedKeys > 0 ? 'version 0 with lookups' : 'version 0 without lookups'
  if (transaction.failed) yield 'failed'
  if (transaction.signerCount > 1) yield 'several signers'
  if (!transaction.nestingKnown) yield 'heights missing'
  if (logs === null) yield 'logs missing'
  if (logs?.some((line) => line.startsWith('Log truncated'))) yield 'logs truncated'
  yield index === null ? 'index missing' : 'index known'
  yield `called at height ${Math.max(...instructions.map(({ height }) => height))}`
  if (balances.some(({ owner }) => owner === null)) yield 'balance without owner'
}

/** Returns a call's features: its instruction, account list and events, each with the version of its layout. */
function* callFeatures(call: Invocation): Iterable<string> {
  const { venue, layout, log, instruction } = call
  const name = layout?.name ?? instruction.data.subarray(0, 8).toHex()
  yield `${venue.id} instruction ${name}`
  yield `${venue.id} ${instruction.innerIndex === null ? 'outer' : 'inner'} call`
  if (log === null) yield `${venue.id} call without log`
  if (layout !== undefined) {
    yield `${venue.id} arguments of ${versionOf(layout, instruction.data)}`
    yield `${venue.id} accounts of ${name} ${JSON.stringify(layout.accounts(call.accountCount))}`
  }
  for (const { bytes } of call.stated) yield `${venue.id} states ${eventVersion(call, bytes)}`
  for (const bytes of [...(log?.data ?? []), ...(log?.rayLogs ?? [])]) {
    yield `${venue.id} logs ${eventVersion(call, bytes)}`
  }
  for (const { kind, mayWithhold } of call.movements) {
    yield `${venue.id} moves ${kind}${mayWithhold ? ' by Token-2022' : ''}`
  }
}

function eventVersion({ venue }: Invocation, bytes: Uint8Array): string {
  const layout = venue.events.find(bytes)
  return layout === undefined ? `unknown ${bytes.subarray(0, 8).toHex()}` : versionOf(layout, bytes)
}

/** Returns a layout's name with the number of fields present in the bytes. */
function versionOf(layout: Layout<unknown>, bytes: Uint8Array): string {
  const reading = layout.read(bytes, layout.discriminator.length)
  if (reading === null) return `${layout.name}, short`
  const fields = Object.keys(reading.value as object).length
  return `${layout.name}, ${fields} fields${reading.drift > 0 ? ' and more' : ''}`
}

function* eventFeatures(event: ChainEvent): Iterable<string> {
  const { venue } = event
  if (event.kind !== 'trade') {
    yield `${venue} ${event.kind} ${event.event}`
    if (event.kind === 'liquidity' && (event.baseAmount === 0n || event.quoteAmount === 0n)) {
      yield `${venue} liquidity ${event.event} of one side`
    }
    return
  }
  yield `${venue} trade`
  yield `${venue} trade exact ${event.exact}`
  const [gives, takes] = [event.inMint, event.outMint].map((mint) => samePubkey(mint, WRAPPED_SOL))
  yield `${venue} trade ${gives ? 'gives SOL' : takes ? 'takes SOL' : 'of tokens alone'}`
  const reserves = event.reserves === null ? 'none' : Object.keys(event.reserves).sort().join(', ')
  yield `${venue} trade with reserves ${reserves}`
  for (const { kind } of event.fees) yield `${venue} fee ${kind}`
}

function* routeFeatures(
  { keys, instructions }: Transaction,
  events: readonly ChainEvent[]
): Iterable<string> {
  const trades = events.filter((event): event is Trade => event.kind === 'trade')
  const pools = trades.map(({ pool }) => pubkeyMapKey(pool))
  if (new Set(pools).size < pools.length) yield 'a pool traded twice'
  for (const { route, venue } of trades) {
    if (route !== null) yield route.hops === 1 ? `${venue} route of one` : `${venue} in a route of several`
    if (route !== null) yield `route of ${route.hops}`
  }
  if (trades.length === 0) return
  for (const { program } of instructions) {
    const aggregator = keys.lookup(program, AGGREGATORS)
    if (aggregator !== undefined) yield `aggregator ${aggregator}`
  }
}
