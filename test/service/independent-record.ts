import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { decodeBase58, encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import type { Localnet } from '../../src/localnet/localnet.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import type { Storage } from '../../storage/port.ts'
import { chainShape, tokenAccountsOf } from '../holders/list-shape.ts'
import { signedWire, toBase64, transfer, wallet } from '../transactions/signed.ts'
import { slotOf, until } from './asking.ts'
import type { ChainFleet } from './chain-fleet.ts'
import { holdersOf } from './oracle-accounts.ts'
import { followEachOther, RevenueUser, totalsEqual } from './revenue-user.ts'
import { ADMIN_KEY, type ServiceProcess } from './service-process.ts'
import { storedEvents, type HeardEvent } from './stream-swarm.ts'
import { judgeReceiver, TENANT, WebhookReceiver } from './webhook-receiver.ts'
import { addWebhook, CHANNELS, webhookKey } from './webhook-run.ts'

/** Milliseconds between two submissions: about one in each slot. */
const SUBMISSION_MS = 300
const LAMPORTS = 50_000_000_000n
const SENDER = wallet(1).publicKey.toBase58()
const MINT = pubkeyToBase58(NATIVE_MINT)

/**
 * A record that clients of a fleet keep, beside the chain that it indexes: batches of a webhook, submissions, rows of a
 * ledger, and a holder list. At the end all of it is compared with the chain, with the fleet's answers, and with a service
 * that has read the same chain undisturbed.
 */
export class IndependentRecord {
  readonly #t: Test
  readonly #net: Localnet
  readonly #fleet: ChainFleet
  readonly #receiver: WebhookReceiver
  readonly #webhookId: number
  readonly #user: RevenueUser
  readonly #sender: RevenueUser
  /** Signatures that were submitted, also without an answer. */
  readonly #attempted: string[] = []
  readonly #accepted = new Set<string>()
  readonly #ended = new AbortController()
  #traffic = Promise.resolve()

  private constructor(
    t: Test,
    net: Localnet,
    fleet: ChainFleet,
    clients: {
      readonly receiver: WebhookReceiver
      readonly webhookId: number
      readonly user: RevenueUser
      readonly sender: RevenueUser
    }
  ) {
    this.#t = t
    this.#net = net
    this.#fleet = fleet
    this.#receiver = clients.receiver
    this.#webhookId = clients.webhookId
    this.#user = clients.user
    this.#sender = clients.sender
  }

  /** Creates a webhook, a watched address, a holder list and a sender by the gateways of a fleet, and starts to submit. */
  static async begin(t: Test, net: Localnet, fleet: ChainFleet): Promise<IndependentRecord> {
    const receiver = await WebhookReceiver.start(t)
    const gateway = fleet.named('gateway')[0]!
    const webhookId = await addWebhook(
      [gateway, ...fleet.named('delivery')],
      await webhookKey(gateway),
      receiver
    )
    net.bank.airdrop(wallet(1).publicKey.toBytes(), LAMPORTS)
    await until(
      async () => net.bank.account(wallet(1).publicKey.toBytes(), 'confirmed') !== null,
      'the airdrop is confirmed'
    )
    let asked = 0
    const urlOf = (): string => {
      const gateways = fleet.named('gateway')
      return gateways[asked++ % gateways.length]!.url
    }
    const user = await RevenueUser.of(urlOf, TENANT)
    await user.watch(SENDER)
    const key = { tenant: TENANT, scopes: ['tx:send', 'data:read'], rate_limit_per_minute: 1_000_000 }
    const made = await new RevenueUser(urlOf, ADMIN_KEY).ask('POST', '/v1/admin/keys', key)
    const sender = new RevenueUser(urlOf, String(made['key']))
    // On a busy machine the node may be late for the gateway.
    await until(
      () => sender.ask('GET', `/v1/tokens/${MINT}/holders`).catch(() => null),
      'the list of holders'
    )
    const record = new IndependentRecord(t, net, fleet, { receiver, webhookId, user, sender })
    record.#traffic = record.#submit()
    t.teardown(() => record.#ended.abort())
    return record
  }

  /** Resolves once each product has gone on a little. */
  goesOn(what: string): Promise<void> {
    return this.lose(what, async () => undefined)
  }

  /**
   * Ends something. Resolves once a block that the chain has made since is served, its events are delivered, and a transaction
   * that was submitted since has landed, and says how long each took.
   */
  async lose(lost: string, end: () => Promise<unknown>): Promise<void> {
    const sent = this.#attempted.length
    await end()
    const sinceMs = performance.now()
    const slot = this.#net.bank.slot('processed')
    const after = async (isSo: () => boolean | Promise<boolean>, fact: string): Promise<number> => {
      await until(async () => isSo(), `${fact} after ${lost}`)
      return (performance.now() - sinceMs) / 1_000
    }
    const [blocks, deliveries, submissions] = await Promise.all([
      after(async () => (await this.#slot()) > slot, 'blocks'),
      after(() => this.#receiver.slot > slot, 'deliveries'),
      after(() => this.#attempted.slice(sent + 1).some((each) => this.#slotOf(each) !== null), 'submissions')
    ])
    const [toBlocks, toDeliveries, toSubmissions] = [blocks, deliveries, submissions].map((each) =>
      each.toFixed(1)
    )
    this.#t.comment(
      `${lost}: blocks after ${toBlocks} s, deliveries ${toDeliveries} s, submissions ${toSubmissions} s`
    )
  }

  /** Stops submitting, and compares the end of each submission with the chain, which has to grow meanwhile. */
  async settle(t: Test): Promise<void> {
    this.#ended.abort()
    await this.#traffic
    await this.#judgeSubmissions(t)
  }

  /**
   * Compares everything else once the submissions have settled, the chain stands still, and all processes have its last
   * confirmed block.
   */
  async judge(t: Test, storage: Storage, witness: Storage, lastSlot: number): Promise<void> {
    await this.#judgeEvents(t, storage, witness, lastSlot)
    await this.#judgeLedger(t)
    await this.#judgeHolders(t)
  }

  async #judgeEvents(t: Test, storage: Storage, witness: Storage, lastSlot: number): Promise<void> {
    let last = 0
    for (const channel of CHANNELS) {
      const stored = await storedEvents(storage, channel, lastSlot)
      last = Math.max(last, stored.at(-1)?.cursor ?? 0)
      t.ok(stored.length > 0, `${stored.length} events of ${channel}`)
      t.strictSame(
        stored.map(chainText),
        (await storedEvents(witness, channel, lastSlot)).map(chainText),
        `the events of ${channel} are those of an undisturbed service`
      )
    }
    await until(async () => this.#receiver.slot >= splitCursor(last).slot, 'everything is delivered')
    await judgeReceiver(t, this.#receiver, { storage, id: this.#webhookId }, CHANNELS, lastSlot)
  }

  async #judgeSubmissions(t: Test): Promise<void> {
    const ends = { finalized: 0, expired: 0 }
    const contradicted: string[] = []
    for (const signature of this.#accepted) {
      const status = await until(async () => {
        const now = await this.#sender.ask('GET', `/v1/tx/${signature}/status`).catch(() => null)
        return now !== null && (now['status'] === 'finalized' || now['expired'] === true) && now
      }, `${signature} ends`)
      ends[status['expired'] === true ? 'expired' : 'finalized']++
      const slot = status['expired'] === true ? null : status['slot']
      if (slot !== this.#slotOf(signature)) contradicted.push(`${signature}: ${JSON.stringify(status)}`)
    }
    t.strictSame(contradicted, [], 'the end of each submission is what the chain has')
    t.ok(ends.finalized > 20, `${ends.finalized} submissions landed, ${ends.expired} expired`)
  }

  /** Compares the ledger with the chain: each landed transaction has one row, and the last row ends at the balance. */
  async #judgeLedger(t: Test): Promise<void> {
    const landed = this.#attempted.filter((signature) => this.#slotOf(signature) !== null)
    const rows = await until(async () => {
      const { rows } = await this.#user.ledger()
      return rows.length >= landed.length && rows
    }, `${landed.length} rows of the ledger`)
    t.strictSame(await this.#user.gaps(), [], 'the ledger has no gap')
    followEachOther(t, rows, [], 'the ledger')
    t.strictSame(
      rows.map(({ signature }) => signature).toSorted(),
      landed.toSorted(),
      `each of ${landed.length} landed transactions has one row`
    )
    t.equal(
      rows.at(-1)?.post_raw,
      String(this.#net.bank.account(wallet(1).publicKey.toBytes(), 'confirmed')!.lamports),
      'the ledger ends at the balance of the chain'
    )
    await totalsEqual(t, this.#user)
  }

  async #judgeHolders(t: Test): Promise<void> {
    const gateway = this.#fleet.named('gateway')[0]!
    const { bank } = this.#net
    const { rows } = await holdersOf(gateway, MINT, 'token_account', bank.slot('confirmed'))
    const { accounts } = chainShape(tokenAccountsOf(bank, 'confirmed'), NATIVE_MINT)
    t.ok(accounts.length > 20, `${accounts.length} accounts hold wrapped SOL`)
    t.strictSame(
      rows.map((row) => [row['amount_raw'], row['token_account'], row['owner']].map(String).join(' ')),
      accounts,
      'the holder list has the accounts of the chain'
    )
  }

  async #submit(): Promise<void> {
    // More than the rent of a new account, and different each time.
    let lamports = 2_000_000n
    while (!this.#ended.signal.aborted) {
      const { blockhash } = this.#net.bank.latestBlockhash('confirmed')
      const wire = signedWire([transfer(lamports++)], { blockhash: encodeBase58(blockhash) })
      const signature = encodeBase58(wire.subarray(1, 65))
      this.#attempted.push(signature)
      // Retried by the client until an answer; refused if its blockhash has expired in an outage.
      const isAccepted = await this.#sender.ask('POST', '/v1/tx/send', { tx: toBase64(wire) }).then(
        () => true,
        () => false
      )
      if (isAccepted) this.#accepted.add(signature)
      await delay(SUBMISSION_MS)
    }
  }

  /** The newest slot that any gateway serves. */
  async #slot(): Promise<number> {
    const slots = await Promise.all(this.#fleet.named('gateway').map((each) => slotOf(each).catch(() => 0)))
    return Math.max(0, ...slots)
  }

  /** The confirmed slot in which a transaction landed; null if it has not. */
  #slotOf(signature: string): number | null {
    const found = this.#net.bank.transaction(decodeBase58(signature))
    return found === null || found.commitment === 'processed' ? null : found.slot
  }
}

/** Returns an event with its cursor, without the time at which a service has read it. */
const chainText = ({ cursor, data }: HeardEvent): string =>
  `${cursor} ${data.replace(/"ts_ms":\d+,?|"ingested_at":"[^"]*",?/g, '')}`

/** Resolves once all processes have a block. */
export async function haveSlot(services: readonly ServiceProcess[], slot: number): Promise<void> {
  for (const service of services) await until(async () => (await slotOf(service)) >= slot, `slot ${slot}`)
}
