import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Flow } from '../node/web3-flows.ts'
import { spawnMillrace, type ServiceProcess } from './service-process.ts'

/** A node's block, with the fields that are used. */
export interface JsonBlock {
  readonly blockTime: number
  readonly transactions: readonly unknown[]
}

/** A slot with flows, as the node's block shows it. */
export interface FlowSlot {
  readonly slot: number
  readonly blockTime: number
  readonly transactions: number
  /** Number of events that `millrace decode` finds in it. */
  readonly events: number
}

export const FLOWS = [
  'airdrop',
  'transfer',
  'mint',
  'token transfer',
  'lookup table',
  'versioned transfer',
  'failing transfer'
]

/** Compares flows with their subscriptions' results, and each flow's slot with the service's coverage. */
export async function findFlows(
  t: Test,
  flows: readonly Flow[],
  services: readonly ServiceProcess[]
): Promise<void> {
  t.same(
    flows.map(({ name }) => name),
    FLOWS
  )
  for (const { name, err } of flows) {
    t.same(err, name === 'failing transfer' ? { InstructionError: [0, { Custom: 1 }] } : null, name)
  }
  for (const { name, slot } of flows) {
    for (const service of services) {
      const { status, body } = await service.get(`/v1/admin/coverage?from_slot=${slot}`)
      t.match([status, body], [200, { ranges: [{ from_slot: slot }], gaps: [] }], `the slot of the ${name}`)
    }
  }
}

/** Fetches the blocks of flows by slot, as a user would. */
export async function flowBlocks(
  flows: readonly Flow[],
  rpcUrl: string
): Promise<ReadonlyMap<number, JsonBlock>> {
  const slots = [...new Set(flows.map(({ slot }) => slot))]
  return new Map(await Promise.all(slots.map(async (slot) => [slot, await getBlock(rpcUrl, slot)] as const)))
}

/** Checks that `millrace decode --explain` finds flows in their blocks. */
export async function decodeFlows(
  t: Test,
  flows: readonly Flow[],
  blocks: ReadonlyMap<number, JsonBlock>
): Promise<FlowSlot[]> {
  const lines = await decode([...blocks].map(([slot, block]) => JSON.stringify({ slot, block })))
  const explained = new Map(
    lines.filter(({ kind }) => kind === 'explain').map((line) => [line.signature, line])
  )
  for (const { name, signature } of flows) {
    const version = name === 'versioned transfer' ? 0 : 'legacy'
    const failed = name === 'failing transfer'
    const expected = { version, failed, logs: 'complete', venue_calls: 0 }
    t.match(explained.get(signature), expected, `decode finds the ${name}`)
  }
  return [...blocks].map(([slot, { blockTime, transactions }]) => {
    const events = lines.filter((line) => line.slot === slot).length
    return { slot, blockTime, transactions: transactions.length, events }
  })
}

/** An event, or, without a slot, a statement about a transaction. */
interface DecodedLine {
  readonly kind?: string
  readonly signature: string
  readonly slot?: number
}

async function decode(records: readonly string[]): Promise<DecodedLine[]> {
  const child = spawnMillrace(['decode', '--explain'])
  child.stdin!.end(records.join('\n'))
  const [out, err, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>
  ])
  if (code !== 0 || err !== '') throw new Error(`decode ended with ${code}: ${err}`)
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as DecodedLine)
}

/** Compares stored rows of slots with the node's blocks and the events of `millrace decode`. */
export function flowsAreStored(t: Test, found: readonly FlowSlot[], rows: readonly SlotRow[]): void {
  const bySlot = new Map(rows.map((row) => [row.slot, row]))
  for (const { slot, ...rest } of found) t.match(bySlot.get(slot), rest, `the row of slot ${slot}`)
}

async function getBlock(url: string, slot: number): Promise<JsonBlock> {
  const params = [slot, { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 1 }]
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBlock', params })
  })
  return ((await response.json()) as { result: JsonBlock }).result
}
