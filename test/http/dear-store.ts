import { SyntheticMarket } from '../../loadtest/market/blocks.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import {
  HOLDER_MINTS_PARTITION,
  holderMintsIn,
  holderProgressIn,
  NO_LIST
} from '../../src/holders/holder-mint.ts'
import { wholeList } from '../../src/holders/list-rows.ts'
import { WSOL } from '../../src/market/cash.ts'
import {
  NO_PROGRESS,
  programsIn,
  PROGRAMS_MAX,
  PROGRAMS_PARTITION
} from '../../src/program-accounts/program.ts'
import { Whitelist } from '../../src/program-accounts/whitelist.ts'
import { COUNTERPARTY_CONFIDENCES, ENTRY_KINDS } from '../../src/revenue/entry-enums.ts'
import { ARCHIVED_ROWS_MAX } from '../../src/revenue/routes/revenue-archive.ts'
import { IMPORTED_MAX } from '../../src/revenue/watch-history.ts'
import { LedgerGaps } from '../../src/revenue/ledger-gap.ts'
import { ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import { WATCHED_ADDRESS, WATCHED_PER_TENANT_MAX } from '../../src/revenue/watched-address.ts'
import { ATTEMPTS_MAX } from '../../src/webhooks/attempts.ts'
import { WEBHOOK_CHANNELS_MAX, WEBHOOKS_PER_TENANT_MAX } from '../../src/webhooks/webhook.ts'
import { DEMO_TENANT } from '../../src/access/bootstrap.ts'
import { EXAMPLE_NODE, EXAMPLE_WATCHED } from '../../src/edge/routes/example-values.ts'
import { Documents } from '../../storage/documents.ts'
import { mintData, tokenAccountData } from '../accounts/account-data.ts'
import type { FakeAccounts } from '../accounts/fake-account-node.ts'
import { TIP_ACCOUNT, type FakeTransactions } from '../transactions/fake-transactions.ts'
import { transferText } from '../transactions/transaction-client.ts'
import type { FakeParts } from '../webhooks/fake-parts.ts'
import type { DearValues } from './dearest-requests.ts'
import type { Answer, MarketApp } from './market-app.ts'
import { entry, storeLedger } from '../revenue/revenue-client.ts'

/** A market with a page of everything: 600 launches and a token with thousands of trades. */
const MARKET = { seed: 5, trades: 17_400, mints: 1_500, wallets: 500 }
/** More than any answer lists. */
const MANY = 1_100
/** Mints of each watched address: the sums of 4,000 mints are added up. */
const MINTS_OF_LEDGER = 20
/** Owners of the longest list that is read as a whole. */
const OWNERS = 20_000
/** Gaps of the ledgers, each of which concerns every watched address. */
const GAPS = 1_000

/** The parts outside of HTTP that an app of a dear store has. */
export interface DearParts {
  readonly accounts: FakeAccounts
  readonly transactions: FakeTransactions
  readonly webhooks: FakeParts
}

/** Returns a distinct address for each number and kind. */
export function addressOf(kind: number, number: number): Pubkey {
  const address = new Uint8Array(32).fill(kind)
  new DataView(address.buffer).setUint32(0, number + 1)
  return address
}

/** Fills the store so that each endpoint has as much to answer as its limits allow, and returns the values that name it. */
export async function fillDearStore(world: MarketApp, parts: DearParts): Promise<DearValues> {
  const { storage, deps } = world
  await world.commit(...new SyntheticMarket(MARKET).blocks())
  world.nowMs = deps.feed.head!.blockTime * 1_000
  const key = await world.makeKey([...SCOPES])
  const numbers = Array.from({ length: MANY }, (_, at) => at)
  await Promise.all(
    numbers.map(async (at) => {
      const gap = { from: 1_000 + 10 * at, to: 1_004 + 10 * at }
      await storage.coverage.addGap({ ...gap, reason: 'missed', detail: '', atMs: 1 })
    })
  )
  for (const at of numbers) {
    await deps.keys.createTenant(`tenant-${at}`, 1)
    await world.makeKey(['data:read'], { tenant: `tenant-${at}` })
  }
  await fillAccounts(world, parts.accounts)
  await fillHolders(world)
  await fillMirror(world)
  await fillLedgers(world)
  const launched = await storage.launches.page({ order: 'desc', limit: 600 })
  const addresses = launched.map(({ mint }) => pubkeyToBase58(mint))
  const webhook = await fillWebhooks(world, parts, key, addresses)
  const submitted = await fillTransactions(world, parts.transactions, key)
  const [trade] = await storage.trades.ofMint(pubkeyFromBase58(WSOL), { order: 'desc', limit: 1 })
  return {
    key,
    path: {
      mint: WSOL,
      pool: pubkeyToBase58(trade!.pool),
      wallet: pubkeyToBase58(trade!.user),
      programId: PROGRAM,
      program: PROGRAM,
      address: addresses[0]!,
      ...submitted
    },
    pathOf: {
      '/v1/tokens/{mint}/bonding-curve': { mint: await firstCurve(world, key, addresses) },
      '/v1/webhooks/{id}': { id: webhook },
      '/v1/admin/keys/{id}': { id: deps.keys.keys.at(-1)!.id },
      '/v1/admin/nodes/{id}': { id: EXAMPLE_NODE }
    },
    addresses,
    body: {
      tenant: 'acme',
      name: 'another-tenant',
      address: addresses[0]!,
      url: RECEIVER,
      program: pubkeyToBase58(addressOf(0x71, 0)),
      tx: transferText(BigInt(MANY)),
      txs: [1n, 2n, 3n, 4n].map((n) => transferText(n)).concat(transferText(1_000n, TIP_ACCOUNT)),
      channels: addresses.slice(0, WEBHOOK_CHANNELS_MAX).map((mint) => `trades:${mint}`),
      index: [0, 8, 16, 24].map((offset) => ({ offset, length: 8 })),
      rows: numbers.slice(0, ARCHIVED_ROWS_MAX).map(archivedRow),
      ranges: numbers.slice(0, IMPORTED_MAX).map((at) => ({ from_slot: 10 * at, to_slot: 10 * at + 1 })),
      scopes: [...SCOPES],
      allowed_ips: numbers.map((at) => `10.0.${at >> 8}.${at & 255}`),
      cors_origins: numbers.map((at) => `https://page-${at}.example.org`)
    },
    examples: new Map([
      [EXAMPLE_WATCHED, addresses[0]!],
      [DEMO_TENANT, 'tenant-1']
    ]),
    rpcParams: {
      // All accounts are examined, and few are rendered: REST has an answer with many.
      config: { encoding: 'base64', filters: [{ memcmp: { offset: 0, bytes: '2' } }] },
      address: PROGRAM,
      addresses: addresses.slice(0, RPC_LIST_MAX),
      signatures: numbers.slice(0, RPC_LIST_MAX).map(() => submitted.signature)
    }
  }
}

/** The mirrored program with many accounts: not a token program, whose reads of REST are other products'. */
const PROGRAM = pubkeyToBase58(addressOf(0x70, 0))
const RECEIVER = 'https://receiver.example.org/hook'
/** Elements of each list of a batch: with more, the body of a hundred signature lists is refused for its length. */
const RPC_LIST_MAX = 20
/** Bytes of each mirrored account: as a token account. */
const ACCOUNT_BYTES = 165

/** Puts the accounts of a wallet and of mints at the node. */
async function fillAccounts({ storage }: MarketApp, { node }: FakeAccounts): Promise<void> {
  const owner = TOKEN_PROGRAM_KEYS['spl-token']
  const data = mintData({ supply: 1_000_000n, decimals: 6 })
  const mints = await storage.launches.page({ order: 'desc', limit: 600 })
  const [trade] = await storage.trades.ofMint(pubkeyFromBase58(WSOL), { order: 'desc', limit: 1 })
  for (const mint of [pubkeyFromBase58(WSOL), ...mints.map((each) => each.mint)])
    node.put(mint, { owner, data })
  for (const [at, { mint }] of mints.entries())
    node.put(addressOf(0x61, at), {
      owner,
      data: tokenAccountData({ mint, owner: trade!.user, amount: BigInt(at + 1) })
    })
}

/** Stores the holders of SOL. */
async function fillHolders({ storage, nowMs, deps }: MarketApp): Promise<void> {
  const { slot } = deps.feed.head!
  const mint = pubkeyFromBase58(WSOL)
  const documents = holderMintsIn(storage.documents)
  await documents.insert({ mint: WSOL, decimals: 9, tokenProgram: 'spl-token', askedAtMs: nowMs })
  const balances = Array.from({ length: OWNERS }, (_, at) => {
    const balance = { owner: addressOf(0x42, at), amount: BigInt(at + 1) }
    return [addressOf(0x41, at), balance] as const
  })
  for (const rows of wholeList(balances, slot, MANY)) await storage.holders.put({ mint, reading: 1 }, rows)
  const { save } = await holderProgressIn(storage.documents).claim(1)
  await save({ slot, oldestSlot: slot, atMs: nowMs, rollbacks: 0 })
  const stored = await documents.get(HOLDER_MINTS_PARTITION, [WSOL])
  const live = { state: 'live', reading: 1, fromSlot: slot, accounts: balances.length } as const
  await documents.putHot(stored!, 1, { ...NO_LIST, ...live })
}

/** Mirrors a program with many accounts, and as many programs as there can be. */
async function fillMirror({ storage, nowMs, deps }: MarketApp): Promise<void> {
  const { slot } = deps.feed.head!
  const whitelist = new Whitelist(storage.documents)
  for (let at = 0; at < PROGRAMS_MAX - 1; at++)
    await whitelist.add(pubkeyToBase58(addressOf(0x70, at)), nowMs)
  const stored = await programsIn(storage.documents).get(PROGRAMS_PARTITION, [PROGRAM])
  const rows = Array.from({ length: 5 * MANY }, (_, at) => ({
    address: addressOf(0x51, at),
    slot,
    account: {
      lamports: 5n,
      executable: false,
      rentEpoch: 2n ** 64n - 1n,
      data: new Uint8Array(ACCOUNT_BYTES).fill(at)
    }
  }))
  await storage.programAccounts.put(pubkeyFromBase58(PROGRAM), rows, [])
  const complete = { slot, oldestSlot: slot, accounts: rows.length, atMs: nowMs }
  await programsIn(storage.documents).putHot(stored!, 1, { ...NO_PROGRESS, ...complete })
}

/** Watches as many addresses as a tenant may, each with a block of entries of several mints, and stores gaps. */
async function fillLedgers({ storage, nowMs, deps }: MarketApp): Promise<void> {
  const { slot, blockTime } = deps.feed.head!
  const { documents } = storage
  const launched = await storage.launches.page({ order: 'desc', limit: WATCHED_PER_TENANT_MAX })
  const mints = launched.map(({ mint }) => pubkeyToBase58(mint))
  const captureFrom = { slot: 1, ts: blockTime - MANY }
  const fill = async (address: string, at: number): Promise<void> => {
    const facts = { tenant: 'acme', address, slot: at, label: address, role: `role_${at}` }
    await new Documents(documents, WATCHED_ADDRESS).insert({ ...facts, createdAtMs: nowMs, captureFrom })
    const entries = mints
      .slice(0, MINTS_OF_LEDGER)
      .map((mint, index) => entry({ index, account: address, mint, isNative: false }))
    await storeLedger(storage, address, [{ slot, blockTime, entries }])
  }
  await Promise.all(mints.map(fill))
  const gaps = new LedgerGaps(documents)
  const from = Array.from({ length: GAPS }, (_, at) => 10 + 10 * at)
  const gapAt = { fromTs: 1, toTs: 2, reason: 'ingest_down' } as const
  await Promise.all(from.map((first) => gaps.add({ from: first, to: first + 4, ...gapAt })))
  const { save } = await ledgerProgressIn(documents).claim(1)
  await save({ slot, blockhash: null, blockTime, holes: [], documentsTo: -1 })
}

/** Creates as many webhooks as a tenant may have, with all their channels and attempts. Returns the id of the last. */
async function fillWebhooks(
  world: MarketApp,
  { webhooks }: DearParts,
  key: string,
  addresses: readonly string[]
): Promise<string> {
  let id = 0
  // One is left to be created.
  for (let at = 1; at < WEBHOOKS_PER_TENANT_MAX; at++) {
    const channels = addresses
      .slice(at * WEBHOOK_CHANNELS_MAX, (at + 1) * WEBHOOK_CHANNELS_MAX)
      .map((mint) => `trades:${mint}`)
    const { body } = await post(world, key, '/v1/webhooks', { url: RECEIVER, channels })
    id = Number(body.id)
  }
  const attempts = Array.from({ length: ATTEMPTS_MAX }, (_, at) => ({
    batchId: `batch-${at}`,
    attempt: 1,
    statusCode: 500,
    error: 'status_500',
    events: 100,
    dropped: 0,
    startedAtMs: world.nowMs - at,
    durationMs: 12,
    nextRetryAtMs: world.nowMs
  }))
  webhooks.attemptsOf.set(id, attempts)
  return String(id)
}

/** Submits as many transactions as a page lists, and a bundle. Returns the values of their paths. */
async function fillTransactions(world: MarketApp, parts: FakeTransactions, key: string) {
  const percentiles = { p25: 1_000, p50: 2_000, p75: 3_000, p95: 4_000, p99: 5_000, emaP50: 2_000 }
  parts.tips = { accounts: parts.tipAccounts!, floor: { ...percentiles, atMs: world.nowMs }, isStale: false }
  const submit = (_: unknown, at: number) =>
    post(world, key, '/v1/tx/send', { tx: transferText(10_000n + BigInt(at)) })
  const [{ body: sent }] = (await Promise.all(Array.from({ length: MANY }, submit))) as [Answer]
  const signature = String(sent['signature'])
  const { body } = await post(world, key, '/v1/tx/bundle', { txs: [transferText(9_000n, TIP_ACCOUNT)] })
  return { signature, bundle_id: String(body['bundle_id']) }
}

/** A row for an import of a ledger's history, in a transaction of its own. */
const archivedRow = (at: number): object => ({
  slot: 1,
  tx_index: at,
  index: 0,
  ts_ms: 1_700_000_000_000,
  signature: encodeBase58(new Uint8Array(64).fill(1)),
  account: pubkeyToBase58(addressOf(0x72, 0)),
  mint: WSOL,
  is_native: true,
  decimals: 9,
  pre_raw: String(at),
  post_raw: String(at + 1),
  kind: ENTRY_KINDS[0],
  counterparty: null,
  counterparty_confidence: COUNTERPARTY_CONFIDENCES[0],
  fee_lamports: 5_000,
  fee_payer: null,
  ix_index: null
})

/** Returns the first token that has a bonding curve. */
async function firstCurve(world: MarketApp, key: string, addresses: readonly string[]): Promise<string> {
  for (const mint of addresses) {
    const { status } = await world.get(`/v1/tokens/${mint}/bonding-curve`, { 'x-api-key': key })
    if (status === 200) return mint
  }
  throw new Error('no launched token has a curve')
}

async function post(world: MarketApp, key: string, path: string, body: object) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const answer = await world.ask('POST', path, headers, JSON.stringify(body))
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  return answer
}
