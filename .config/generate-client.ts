import { readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openApiOf } from '../src/edge/routes/openapi.ts'
import { errorsOf } from '../src/kernel/compose/product.ts'
import type { Endpoint } from '../src/kernel/http/endpoint.ts'
import { PROGRAM } from '../src/program.ts'
import { clientSourceOf, type ApiDocument } from './client-source.ts'
import { formatted } from './formatted.ts'

/**
 * Writes `src/client/api.ts` and `src/client/operations.ts` from the declarations of the endpoints: `npm run client:generate`.
 * `test/client/generated.test.ts` compares both files with the document of a served app.
 */

const ROOT = resolve(import.meta.dirname, '..')

const errors = errorsOf(await PROGRAM.products())
const served = (await declaredEndpoints()).map((endpoint) => ({ endpoint, isCached: false }))
const document = await openApiOf(served, { version: '', sourceKind: null, errors })
const { types, operations } = clientSourceOf(document as unknown as ApiDocument)
for (const [name, text] of [
  ['src/client/api.ts', types],
  ['src/client/operations.ts', operations]
] as const)
  writeFileSync(join(ROOT, name), await formatted(name, text))

/** Returns every endpoint that a file of routes exports. */
async function declaredEndpoints(): Promise<Endpoint[]> {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^[\w-]+\/routes\/[\w-]+\.ts$/.test(path)
  )
  const modules = await Promise.all(
    files.map(async (path) => (await import(join(ROOT, 'src', path))) as Record<string, unknown>)
  )
  return modules.flatMap((module) => Object.values(module).filter(isEndpoint))
}

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'answersWhileDraining' in value && 'path' in value
}
