import type { Test } from 'tap'
import type { KeyAttributes } from '../../src/access/key-row.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import type { LedgerEntry } from '../../src/revenue/ledger-entry.ts'
import { ledgerProgressIn, type LedgerHoleRange } from '../../src/revenue/ledger-progress.ts'
import type { LedgerStores } from '../../src/revenue/ledger-stores.ts'
import { LedgerWriter } from '../../src/revenue/ledger-writer.ts'
import { WATCHED_ADDRESS } from '../../src/revenue/watched-address.ts'
import { Documents } from '../../storage/documents.ts'
import { block, key, NOON } from '../market/world.ts'
import { checkedRequests, type Send } from '../http/checked-requests.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'
import { tenantShard } from '../../src/access/tenant-shard.ts'

/** Addresses of wallets and of a token, base58. */
export const [ALICE, BOB, CAROL, GRAIN] = [41, 42, 43, 1].map((n) => pubkeyToBase58(key(n))) as [
  string,
  string,
  string,
  string
]

/** A block of a ledger. */
export interface LedgerBlock {
  readonly slot: number
  readonly entries: readonly LedgerEntry[]
  /** Unix seconds; by default, NOON is the block time of slot 0, and a slot takes a second. */
  readonly blockTime?: number
}

/** Returns an entry: by default, 1 SOL comes in, worth 150 USD. */
export function entry(fields: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    signature: signatureOf(1),
    txIndex: 0,
    index: 0,
    account: ALICE,
    mint: WSOL,
    isNative: true,
    decimals: 9,
    pre: 5_000_000_000n,
    post: 6_000_000_000n,
    kind: 'transfer',
    counterparty: BOB,
    confidence: 'exact',
    feeLamports: 5_000n,
    feePayer: BOB,
    ixIndex: 0,
    valueUsd: 150,
    feeUsd: null,
    ...fields
  }
}

/** Returns the base58 of a signature made from a number. */
export function signatureOf(n: number): string {
  return pubkeyToBase58(key(n)).padEnd(88, '1')
}

/** Stores the blocks of an address's ledger, ascending by slot, with their sums. */
export async function storeLedger(
  store: LedgerStores,
  address: string,
  blocks: readonly LedgerBlock[]
): Promise<void> {
  const writer = new LedgerWriter(store)
  for (const { slot, entries, blockTime = NOON + slot } of blocks)
    await writer.put([{ address, slot, blockTime, blockhash: null, entries }])
}

export interface RevenueClient extends MarketApp {
  /** Sends a request with a key of `acme` and checks the answer against the OpenAPI document. */
  readonly send: Send
  /** Times at which the tenants' addresses were said to have changed. */
  announced: number
  /** Returns a function like `send` with its own key. */
  as(attributes: Partial<KeyAttributes>): Promise<Send>
  /** Watches an address, and begins the ledgers that have not begun at a slot, unless it is null. */
  watch(address: string, slot?: number | null, facts?: object, send?: Send): Promise<void>
  /** Begins the ledger of a tenant's address at a slot, unless it has begun. */
  begin(tenant: string, address: string, slot: number): Promise<void>
  ledger(address: string, blocks: readonly LedgerBlock[]): Promise<void>
  /** Ends all ledgers at a slot, as their follower does. */
  endAt(slot: number, holes?: readonly LedgerHoleRange[]): Promise<void>
  /** Commits blocks without events. */
  blocks(...slots: readonly number[]): Promise<void>
}

/** Starts the HTTP side with a key of the scope `revenue`. Slot n has the block time NOON + n. */
export async function revenueClient(t: Test): Promise<RevenueClient> {
  const world = await marketApp(t, undefined, { watchedChanged: () => void client.announced++ })
  world.nowMs = NOON * 1_000
  const sendWith = await checkedRequests(t, world)
  const send = sendWith(await world.makeKey(['revenue']))
  const client: RevenueClient = Object.assign(world, {
    send,
    announced: 0,
    as: async (attributes: Partial<KeyAttributes>) => sendWith(await world.makeKey(['revenue'], attributes)),
    async watch(address: string, slot: number | null = 1, facts: object = {}, by: Send = send) {
      const { status, text } = await by('POST', '/v1/revenue/accounts', { address, ...facts })
      if (status >= 300) throw new Error(text)
      if (slot !== null) for (const tenant of ['acme', 'rival']) await client.begin(tenant, address, slot)
    },
    async begin(tenant: string, address: string, slot: number) {
      const documents = new Documents(world.storage.documents, WATCHED_ADDRESS)
      const stored = await documents.get(tenantShard(tenant), [tenant, address])
      if (stored === null || stored.value.captureFrom !== null) return
      await documents.update(stored, { ...stored.value, captureFrom: { slot, ts: NOON + slot - 1 } })
    },
    ledger: (address: string, blocks: readonly LedgerBlock[]) => storeLedger(world.storage, address, blocks),
    async endAt(slot: number, holes: readonly LedgerHoleRange[] = []) {
      const { save } = await ledgerProgressIn(world.storage.documents).claim(1)
      await save({ slot, blockhash: null, blockTime: NOON + slot, holes: [...holes], documentsTo: -1 })
    },
    blocks: (...slots: readonly number[]) =>
      world.commit(...slots.map((slot) => block(slot, NOON + slot, [])))
  })
  return client
}
