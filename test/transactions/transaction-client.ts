import type { Test } from 'tap'
import { fakeTransactions, type FakeTransactions } from './fake-transactions.ts'
import { signedWire, toBase64, transfer, wallet } from './signed.ts'
import { checkedRequests, type Send } from '../http/checked-requests.ts'
import { marketApp, type Answer, type MarketApp } from '../http/market-app.ts'

/** 2026-08-24 12:00:00 UTC. */
export const NOON = Date.UTC(2026, 7, 24, 12)

export interface TransactionClient extends MarketApp {
  readonly parts: FakeTransactions
  /** Sends a request with a key of `acme` that may send transactions, and checks the answer against the document. */
  readonly call: Send
  /** Posts a transaction. */
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Submits a transfer of an amount that no other one has. Returns its signature. */
  submit(lamports: bigint): Promise<string>
  /** Returns a function like `call` with a key of another tenant. */
  as(tenant: string): Promise<Send>
}

export async function transactionClient(
  t: Test,
  changed: Partial<FakeTransactions> = {}
): Promise<TransactionClient> {
  const parts = Object.assign(fakeTransactions(), changed)
  const world = await marketApp(t, undefined, { transactions: parts })
  world.nowMs = NOON
  const callWith = await checkedRequests(t, world)
  const call = callWith(await world.makeKey(['tx:send']))
  const client: TransactionClient = Object.assign(world, {
    parts,
    call,
    post: (body: unknown, headers?: Readonly<Record<string, string>>) =>
      call('POST', '/v1/tx/send', body, headers),
    async submit(lamports: bigint) {
      const { body, text, status } = await client.post({ tx: transferText(lamports) })
      if (status !== 200) throw new Error(text)
      return String(body.signature)
    },
    as: async (tenant: string) => callWith(await world.makeKey(['tx:send'], { tenant }))
  })
  return client
}

/** Returns a signed transfer in base64. */
export const transferText = (lamports: bigint, to = wallet(2).publicKey): string =>
  toBase64(signedWire([transfer(lamports, to)]))
