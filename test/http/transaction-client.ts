import type { Test } from 'tap'
import type { JsonSchema } from '../../src/http/json-schemas.ts'
import { fakeTransactions, type FakeTransactions } from '../transactions/fake-transactions.ts'
import { signedWire, toBase64, transfer, wallet } from '../transactions/signed.ts'
import { closed, Contract } from './contract.ts'
import { marketApp, type Answer, type MarketApp } from './market-app.ts'

/** 2026-08-24 12:00:00 UTC. */
export const NOON = Date.UTC(2026, 7, 24, 12)

export interface TransactionClient extends MarketApp {
  readonly parts: FakeTransactions
  /** Sends a request with a key of `acme` that may send transactions, and checks the answer against the document. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ): Promise<Answer>
  /** Posts a transaction. */
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Submits a transfer of an amount that no other one has. Returns its signature. */
  submit(lamports: bigint): Promise<string>
  /** Returns a function like `call` with a key of another tenant. */
  as(tenant: string): Promise<TransactionClient['call']>
}

export async function transactionClient(t: Test): Promise<TransactionClient> {
  const parts = fakeTransactions()
  const world = await marketApp(t, undefined, { transactions: parts })
  world.nowMs = NOON
  const contract = new Contract(closed(JSON.parse((await world.get('/openapi.json')).text) as JsonSchema))
  const callWith =
    (key: string): TransactionClient['call'] =>
    async (method, path, body, headers = {}) => {
      const answer = await world.ask(
        method,
        path,
        {
          'x-api-key': key,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers
        },
        body === undefined ? undefined : JSON.stringify(body)
      )
      t.equal(contract.breach({ method, path, ...answer }), null, 'the document describes the answer')
      return answer
    }
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
