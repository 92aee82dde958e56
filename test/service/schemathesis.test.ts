import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fixturesDirectory, testWithFixtures } from '../fixtures.ts'
import { ADMIN_KEY, startProcess } from './service-process.ts'

/** The command of the PyPI package, by path or by name. */
const COMMAND = process.env.SCHEMATHESIS ?? 'schemathesis'
const NAME = 'schemathesis finds no request that the service answers otherwise than its document says'

/** Refusals of what violates the schema. 431 is not among its own: a parameter can be longer than all headers may be. */
const REFUSALS = [400, 401, 403, 404, 405, 406, 409, 415, 422, 428, 429, 431, '5xx']
/** Recorded data is old, so health answers 503, and has no node to query; elsewhere these are faults. */
const UNAVAILABLE = ['/v1/health', '/v1/stream/health', '/v1/rpc', '/v1/programs/{programId}/accounts']
const CONFIGURATION = [
  `[checks.negative_data_rejection]\nexpected-statuses = ${JSON.stringify(REFUSALS.map(String))}\n`,
  ...UNAVAILABLE.map((path) =>
    [
      `[[operations]]\ninclude-path = "${path}"\nchecks.not_a_server_error.enabled = false\n`,
      // An element of a batch that violates the schema is answered by its own error, with the status 200.
      path === '/v1/rpc' ? 'checks.negative_data_rejection.enabled = false\n' : ''
    ].join('')
  )
].join('\n')

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
interface Operation {
  readonly parameters?: readonly { readonly name: string }[]
}

/**
 * Returns the document without the parameter `fields`: the schema of an answer describes whole rows, so that the types of
 * clients do. `test/http/list-fields.test.ts` has every list with `fields`.
 */
function withoutFields(document: Document): Document {
  const without = ({ parameters, ...operation }: Operation): Operation => ({
    ...operation,
    ...(parameters && { parameters: parameters.filter(({ name }) => name !== 'fields') })
  })
  const mapped = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, each]) => [method, without(each)]))
  ])
  return { ...document, paths: Object.fromEntries(mapped) as Document['paths'] }
}

function isInstalled(): boolean {
  try {
    execFileSync(COMMAND, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

if (!isInstalled()) {
  const missing = `NOT RUN, schemathesis is not installed (pip install schemathesis, or set SCHEMATHESIS to its path): ${NAME}`
  process.stderr.write(`${missing}\n`)
  if (process.env.CI) t.fail(missing)
  else void t.test(missing, { skip: 'NOT RUN' }, () => undefined)
} else {
  testWithFixtures(t, NAME, async (t) => {
    const directory = t.testdir({ data: {}, 'schemathesis.toml': CONFIGURATION })
    const service = await startProcess({
      dataDir: join(directory, 'data'),
      recordedDir: fixturesDirectory(),
      environment: { MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000', MILLRACE_WORK_PER_MINUTE: '1000000000' }
    })
    t.teardown(() => service.end('SIGTERM'))
    await service.said(/the source has no more blocks/)
    const file = join(directory, 'openapi.json')
    const answer = await fetch(`${service.url}/openapi.json`)
    writeFileSync(file, JSON.stringify(withoutFields((await answer.json()) as Document)))
    const args = [
      'run',
      file,
      ...['--url', service.url],
      ...['--header', `X-API-Key: ${ADMIN_KEY}`],
      ...['--phases', 'examples,coverage,fuzzing', '--max-examples', '10', '--workers', '1'],
      // It finds the id of the key that it uses, and would revoke it.
      ...['--exclude-operation-id', 'deleteAdminKeysById'],
      ...['--exclude-operation-id', 'postAdminKeysByIdRotate'],
      // A name server may need longer than it waits, or there may be none.
      ...['--exclude-operation-id', 'postWebhooks'],
      // No schema can express whether base58 text decodes to 32 bytes; random text mostly does not.
      ...['--exclude-checks', 'positive_data_acceptance'],
      ...['--continue-on-failure', '--no-color']
    ]
    const [code, said] = await new Promise<[code: number, said: string]>((resolve) => {
      const child = execFile(
        COMMAND,
        args,
        { cwd: directory, timeout: 240_000, maxBuffer: 2 ** 26 },
        (_, out, err) => resolve([child.exitCode ?? -1, out + err])
      )
    })
    t.equal(code, 0, said.slice(-8000))
    t.match(said, /\b\d{3,} generated/, 'there were hundreds of requests')
    t.equal((await service.get('/v1/me')).status, 200, 'its key works to the end')
  })
}
