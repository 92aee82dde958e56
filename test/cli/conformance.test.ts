import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openRpcEndpoint } from '../../src/rpc/commands/rpc-endpoint.ts'
import type { ConformanceCheck } from '../../src/rpc/conformance-check.ts'
import { programChecks } from '../../src/rpc/program-rows.ts'
import { PATIENT, until } from '../until.ts'
import { startBusyLocalnetProcess } from '../service/localnet-process.ts'
import { ADMIN_KEY, runMillrace, spawnMillrace } from '../service/service-process.ts'
import { runCommand } from './run-command.ts'

/** A node that passes on another node's answers, which `fault` changes. */
async function nodeAtFault(
  t: Test,
  nodeUrl: string,
  fault: (request: string, answer: string) => string
): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request)
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(nodeUrl, { method: 'POST', headers, body })
      response.writeHead(answer.status, headers).end(fault(body, await answer.text()))
    })()
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return listening(server)
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ORIGIN = 'https://app.example.org'
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

async function administer(url: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as Record<string, unknown>
}

/** A key that pages of an origin may use. */
async function keyOfPages(url: string): Promise<string> {
  await administer(url, '/v1/admin/tenants', { name: 'pages' })
  const { key } = await administer(url, '/v1/admin/keys', {
    tenant: 'pages',
    scopes: ['rpc:read', 'rpc:send'],
    cors_origins: [`rpc:${ORIGIN}`]
  })
  return String(key)
}

/** Compares the accounts of a mirrored program with those of the localnet's node. */
async function compareProgram(
  t: Test,
  { url, rpcUrl }: { readonly url: string; readonly rpcUrl: string },
  against: string
): Promise<void> {
  await administer(url, '/v1/admin/programs', { program: TOKEN_PROGRAM })
  const [service, node] = [
    await openRpcEndpoint('--against', against),
    await openRpcEndpoint('--node', rpcUrl)
  ]
  // Half a slot: a mirror that is some slots behind comes to those of the node.
  const pause = (): Promise<void> => delay(200)
  let made: readonly ConformanceCheck[] = []
  const checks = await until(
    async () => {
      made = await programChecks(TOKEN_PROGRAM, service.ask, node.ask, pause)
      return made.length >= 7 && made.every(({ outcome }) => outcome !== 'not checked') ? made : null
    },
    () => `accounts of each encoding, slice and filter: ${JSON.stringify(made)}`,
    PATIENT
  )
  for (const { check, detail } of checks) t.match(detail, /^[1-9]\d* accounts equal at slot \d+$/, check)
}

const differing = (stdout: string): string[] =>
  stdout.split('\n').flatMap((line, at, all) => (all[at + 1]?.startsWith('  service: ') ? [line] : []))

t.test(
  'a localnet and its RPC URL: no client would notice a difference, and one of a node at fault',
  async (t) => {
    const service = await startBusyLocalnetProcess(t, t.testdir(), ['--rate-limit-per-minute', '100000'])
    const key = await keyOfPages(service.url)
    const against = `${service.url}/v1/rpc?api-key=${key}`
    const socket = `${service.url.replace('http:', 'ws:')}/v1/rpc/ws?api-key=${key}`
    const { port } = new URL(service.rpcUrl)
    for (const [name, args, asked] of [
      [
        'the form of the answers',
        ['--against', against, '--origin', ORIGIN, '--deadline-ms', '600000'],
        /6\d\d/
      ],
      ['against the node', ['--against', against, '--node', service.rpcUrl], /6\d\d/],
      ['over a socket', ['--against', socket, '--node', `ws://127.0.0.1:${Number(port) + 1}`], /101/]
    ] as const) {
      const { code, stdout, stderr } = await runMillrace(['conformance', ...args])
      t.equal(code, 0, `${name}: ${stdout.split('\n').slice(0, 9).join('\n')}${stderr}`)
      t.match(stderr, new RegExp(`: ${asked.source} requests, 0 differences that a client would notice`))
      t.same(differing(stdout), [])
      t.match(stdout, /^socket as given +passed/m)
      t.match(stdout, /^socket with a slash before the query +passed/m)
      t.match(stdout, /^socket with the key as `key` +passed/m)
      // Another process may have the port after the service's.
      t.match(stdout, /^socket at the next port +(passed|not checked)/m)
      t.match(stdout, /^page of an unlisted origin +passed/m)
      t.match(stdout, /^body: deep nesting +passed/m)
      t.match(stdout, /^failover from a node at fault +not checked/m)
      t.match(stderr, /\d+ checks passed, 0 failed, \d not made/)
      const isPage = name === 'the form of the answers'
      t.match(stdout, isPage ? /: preflight +passed/ : /^page of a listed origin +not checked/m)
      t.match(stdout, isPage ? /: socket +passed/ : /^overall deadline +not checked/m)
    }
    await compareProgram(t, service, against)

    let faults = 0
    const node = await nodeAtFault(t, service.rpcUrl, (request, answer) => {
      if (!request.includes('"getFirstAvailableBlock","params":[]')) return answer
      faults++
      return answer.replace(/"result":\d+/, '"result":"1"')
    })
    const { code, stdout, stderr } = await runMillrace(['conformance', '--against', against, '--node', node])
    t.equal(code, 1)
    t.equal(faults, 3, 'a difference is looked at three times')
    t.same(differing(stdout), ['getFirstAvailableBlock []'])
    t.match(stdout, /^getFirstAvailableBlock +5 +4 +0 +1$/m)
    t.match(stderr, /requests, 1 differences that a client would notice/)
  }
)

t.test('an endpoint that is away, and one that refuses the key, end it with a reason', async (t) => {
  const ended = createServer()
  const gone = await listening(ended)
  await new Promise((resolve) => ended.close(resolve))
  const away = await runCommand(['conformance', '--against', gone])
  t.equal(away.code, 1)
  t.match(away.stderr, /^millrace: getSlot has no answer: .*ECONNREFUSED/)
  const refusing = createServer((_request, response) =>
    response.writeHead(401).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"send a key"}}')
  )
  t.teardown(() => refusing.close())
  const refused = await runCommand(['conformance', '--against', await listening(refusing)])
  t.equal(refused.code, 1)
  t.equal(refused.stderr, 'millrace: getSlot gave no result: send a key')
})

t.test('a signal ends it while it waits for the quota of a key', async (t) => {
  const server = createServer((_request, response) =>
    response.writeHead(429, { 'retry-after': '3600' }).end('{"error":{"code":-32429}}')
  )
  t.teardown(() => server.close())
  const child = spawnMillrace(['conformance', '--against', await listening(server)])
  child.stdout!.resume()
  const WAITING = /retrying in 60 s/
  let said = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    const wasWaiting = WAITING.test(said)
    said += chunk.toString()
    if (!wasWaiting && WAITING.test(said)) child.kill('SIGINT')
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  t.equal(code, 1)
  t.match(said, /retrying in 60 s\n.*interrupted\n$/)
})
