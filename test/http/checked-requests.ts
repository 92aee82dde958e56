import type { Test } from 'tap'
import type { JsonSchema } from '../../src/kernel/http/json-schemas.ts'
import { closed, Contract } from './contract.ts'
import type { Answer, MarketApp } from './market-app.ts'

/** Sends a request; a body that is a text goes as it is, any other as JSON. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => Promise<Answer>

/** Returns a function that gives the requests of a key. Each answer is checked against the OpenAPI document. */
export async function checkedRequests(t: Test, world: MarketApp): Promise<(key: string) => Send> {
  const contract = new Contract(closed(JSON.parse((await world.get('/openapi.json')).text) as JsonSchema))
  return (key) =>
    async (method, path, body, headers = {}) => {
      const answer = await world.ask(
        method,
        path,
        {
          'x-api-key': key,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers
        },
        typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
      )
      t.equal(contract.breach({ method, path, ...answer }), null, 'the document describes the answer')
      return answer
    }
}
