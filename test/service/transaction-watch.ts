import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '@solana/web3.js'
import type { Test } from 'tap'
import { ADMIN_KEY, type ServiceProcess } from './service-process.ts'

/** A status as `/v1/tx/{signature}/status` answers it. */
export interface ReportedStatus {
  readonly status: 'unknown' | 'processed' | 'confirmed' | 'finalized'
  readonly state: string | null
  readonly err: unknown
  readonly slot: number | null
  readonly tracking: boolean
  readonly expired: boolean
  readonly rebroadcasts: number
  readonly leaders_sent: number
}

/** Poll interval in milliseconds: a slot of the test. */
const POLL_INTERVAL_MS = 100
const LEVELS = ['processed', 'confirmed', 'finalized'] as const

/** Submits transactions as a tenant, and compares each status ever answered with the chain. */
export class TransactionWatch {
  readonly #service: ServiceProcess
  readonly #connection: Connection
  readonly #key: string
  /** Different answers by signature, in order. */
  readonly statuses = new Map<string, ReportedStatus[]>()
  /** Answers that the chain contradicted. */
  readonly contradictions: string[] = []

  private constructor(service: ServiceProcess, connection: Connection, key: string) {
    this.#service = service
    this.#connection = connection
    this.#key = key
  }

  static async open(
    service: ServiceProcess,
    connection: Connection,
    tenant: string
  ): Promise<TransactionWatch> {
    const create = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
      const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
      const response = await fetch(service.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body)
      })
      return (await response.json()) as Record<string, unknown>
    }
    await create('/v1/admin/tenants', { name: tenant })
    const { key } = await create('/v1/admin/keys', { tenant })
    return new TransactionWatch(service, connection, String(key))
  }

  /** Submits a transaction in base64, and watches it if it was taken. */
  async send(
    tx: string,
    more: Readonly<Record<string, unknown>> = {}
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.#service.url}/v1/tx/send`, {
      method: 'POST',
      headers: { 'x-api-key': this.#key, 'content-type': 'application/json' },
      body: JSON.stringify({ tx, ...more })
    })
    const body = (await response.json()) as Record<string, unknown>
    if (response.status === 200 && !this.statuses.has(String(body.signature)))
      this.statuses.set(String(body.signature), [])
    return { status: response.status, body }
  }

  /** Requests the status of every watched transaction, and compares the answers with the state of the chain. */
  async look(): Promise<void> {
    await delay(POLL_INTERVAL_MS)
    const signatures = [...this.statuses.keys()]
    const answers = await Promise.all(signatures.map((signature) => this.#ask(signature)))
    const [processed, confirmed, finalized] = await Promise.all(
      LEVELS.map((level) => this.#connection.getSlot(level))
    )
    const reached = { unknown: Infinity, processed: processed!, confirmed: confirmed!, finalized: finalized! }
    for (const [index, signature] of signatures.entries()) {
      const answer = answers[index]!
      const statuses = this.statuses.get(signature)!
      const last = statuses.at(-1)
      if (JSON.stringify(last) !== JSON.stringify(answer)) statuses.push(answer)
      if ((answer.slot ?? 0) > reached[answer.status])
        this.#contradict(signature, answer, `the chain has reached ${reached[answer.status]}`)
      if (last !== undefined && last.rebroadcasts > answer.rebroadcasts)
        this.#contradict(signature, answer, 'it was sent more often before')
    }
  }

  /** Looks until every watched transaction has ended. */
  async untilEnded(withinMs: number): Promise<void> {
    const isEnded = (status: ReportedStatus | undefined): boolean =>
      ['finalized', 'failed', 'expired'].includes(status?.state ?? '')
    for (const end = performance.now() + withinMs; performance.now() < end;) {
      await this.look()
      if ([...this.statuses.values()].every((statuses) => isEnded(statuses.at(-1)))) return
    }
    const left = [...this.statuses].filter(([, statuses]) => !isEnded(statuses.at(-1)))
    throw new Error(
      `not ended: ${JSON.stringify(left.map(([signature, statuses]) => [signature, statuses.at(-1)]))}`
    )
  }

  /** Compares all answered statuses with the final chain. */
  async compare(t: Test): Promise<void> {
    const signatures = [...this.statuses.keys()]
    const { value: found } = await this.#connection.getSignatureStatuses(signatures, {
      searchTransactionHistory: true
    })
    for (const [index, signature] of signatures.entries()) {
      const chain = found[index] ?? null
      for (const answer of this.statuses.get(signature)!) {
        if (chain === null) {
          if (answer.status !== 'unknown' || answer.slot !== null)
            this.#contradict(signature, answer, 'it is on no chain')
          continue
        }
        if (answer.expired) this.#contradict(signature, answer, `it landed in ${chain.slot}`)
        if (answer.status === 'unknown') {
          if (!answer.tracking) this.#contradict(signature, answer, 'it was given up and landed')
          continue
        }
        if (answer.slot !== chain.slot) this.#contradict(signature, answer, `its slot is ${chain.slot}`)
        if (JSON.stringify(answer.err) !== JSON.stringify(chain.err))
          this.#contradict(signature, answer, `its error is ${JSON.stringify(chain.err)}`)
      }
    }
    t.same(this.contradictions, [], 'no status contradicts the chain')
  }

  /** Returns the newest answer for a signature. */
  last(signature: unknown): ReportedStatus {
    return this.statuses.get(String(signature))!.at(-1)!
  }

  async #ask(signature: string): Promise<ReportedStatus> {
    const response = await fetch(`${this.#service.url}/v1/tx/${signature}/status`, {
      headers: { 'x-api-key': this.#key }
    })
    if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`)
    const { status, state, err, slot, tracking, expired, rebroadcasts, leaders_sent } =
      (await response.json()) as ReportedStatus
    return { status, state, err, slot, tracking, expired, rebroadcasts, leaders_sent }
  }

  #contradict(signature: string, answer: ReportedStatus, why: string): void {
    if (this.contradictions.length < 20)
      this.contradictions.push(`${signature}: ${JSON.stringify(answer)}, but ${why}`)
  }
}
