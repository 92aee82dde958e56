import type { Test } from 'tap'
import type { JsonSchema } from '../../src/kernel/http/json-schemas.ts'
import { openApiOf } from '../../src/edge/routes/openapi.ts'
import { closed, Contract } from './contract.ts'
import type { Answer, MarketApp } from './market-app.ts'

/** Sends a request; a body that is a text goes as it is, any other as JSON. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => Promise<Answer>

let shared: Promise<Contract> | undefined

/**
 * Returns the contract of an app, with additional fields forbidden. The apps of a process serve the same endpoints, so it is
 * made once, and without a request.
 */
export function contractOf({ app, deps }: Pick<MarketApp, 'app' | 'deps'>): Promise<Contract> {
  // As a client reads it: the document in memory shares objects.
  const asRead = (document: JsonSchema): JsonSchema => JSON.parse(JSON.stringify(document)) as JsonSchema
  return (shared ??= Promise.resolve(app.ready())
    .then(() => openApiOf(app.served, deps))
    .then((document) => new Contract(closed(asRead(document)))))
}

/** Returns a function that gives the requests of a key. Each answer is checked against the OpenAPI document. */
export async function checkedRequests(t: Test, world: MarketApp): Promise<(key: string) => Send> {
  const contract = await contractOf(world)
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
