import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { clientSourceOf, nameOf, type ApiDocument } from '../../.config/client-source.ts'
import { formatted } from '../../.config/formatted.ts'
import { VENUES } from '../../src/client/client.ts'
import { OPERATIONS } from '../../src/client/operations.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { marketApp } from '../http/market-app.ts'
import { ROOT } from '../house/sources.ts'

const REMEDY = 'run npm run client:generate, and commit src/client'

t.test('the types and the table of the client are those of the served document', async (t) => {
  const app = await marketApp(t)
  const document = JSON.parse((await app.get('/openapi.json', {})).text) as ApiDocument
  const { types, operations } = clientSourceOf(document)
  for (const [name, text] of [
    ['src/client/api.ts', types],
    ['src/client/operations.ts', operations]
  ] as const) {
    const committed = readFileSync(join(ROOT, name), 'utf8').split('\n')
    const made = (await formatted(name, text)).split('\n')
    // The first difference alone: the whole files are thousands of lines.
    const at = made.findIndex((line, index) => line !== committed[index])
    t.same(
      at < 0 ? [] : committed.slice(at, at + 3),
      at < 0 ? [] : made.slice(at, at + 3),
      `${name}:${at + 1}: ${REMEDY}`
    )
    t.equal(committed.length, made.length, `${name}: ${REMEDY}`)
  }
  const paths = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  )
  const inTable = Object.values(OPERATIONS).map(({ method, path }) => `${method} ${path}`)
  t.same(
    paths.filter((path) => !inTable.includes(path)),
    ['GET /v1/tokens/{mint}/image', 'POST /v1/rpc'],
    'only JSON-RPC and the bytes of an image have another form'
  )
})

t.test('the client lists every venue that is decoded', async (t) => {
  t.same(VENUES.toSorted(), [...VENUE_IDS].toSorted())
})

t.test('an operation without a name of its own gets one from its path', async (t) => {
  t.equal(nameOf('GET', '/v1/owls'), 'owls.list')
  t.equal(nameOf('POST', '/v1/owls'), 'owls.create')
  t.equal(nameOf('GET', '/v1/owls/{id}'), 'owls.get')
  t.equal(nameOf('DELETE', '/v1/owls/{id}'), 'owls.delete')
  t.equal(nameOf('GET', '/v1/owls/{id}/night-flights'), 'owls.nightFlights')
  t.equal(nameOf('DELETE', '/v1/owls/{id}/flights/{flight}'), 'owls.deleteFlights')
  t.equal(nameOf('POST', '/v1/rpc'), null)
})
