import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.ts'
import { answerAccounts } from '../accounts/account-rpc.ts'
import { fakeAccounts } from '../accounts/fake-account-node.ts'
import { fillDearStore } from '../http/dear-store.ts'
import { dearestRequests, type DearRequest } from '../http/dearest-requests.ts'
import { marketApp } from '../http/market-app.ts'
import { ownDirectory } from '../own-directory.ts'
import { fakeNodes } from '../rpc/fake-rpc-node.ts'
import { FakeNode } from '../rpc/pubsub/fake-node.ts'
import { fakeTransactions } from '../transactions/fake-transactions.ts'
import { fakeParts } from '../webhooks/fake-parts.ts'
import { until } from '../until.ts'
import { startProcess } from './service-process.ts'
import { openWorkReader } from './work-reader.ts'

/**
 * Maximum calls in one turn of the event loop. Work that the service does beside requests, such as tracking a thousand
 * transactions, falls into the same turn, so this bound finds only what is not cut at all: four times the calls of a slice.
 * The slices are counted exactly, and the tests in `test/http` count the calls of a slice without other work.
 */
const CALLS_MAX = 400_000
/** Maximum calls in a turn of a service that has started. */
const CALMED_CALLS = 20_000
/** Maximum slices between two polls of the sockets: less than 50 ms, at 5 ms for each. */
const SLICES_MAX = 9
/** Tries of a request whose deadline passes. */
const TRIES = 4
const SECRET_KEY = 'a'.repeat(64)
const WITHOUT_LIMIT = '1000000000'

/**
 * Requests that this service refuses, with their statuses. Its source has ended, so the data is stale. It has no block engine,
 * fetches no images, and its only node has another name. No receiver of webhooks has a public address.
 */
const REFUSED: Readonly<Record<string, number>> = {
  'GET /v1/stream/health': 503,
  'GET /v1/health': 503,
  'GET /v1/tx/tips': 501,
  'GET /v1/tokens/{mint}/image': 501,
  'POST /v1/tx/bundle': 501,
  'POST /v1/webhooks': 422,
  'POST /v1/admin/nodes/{id}/cordon': 404,
  'POST /v1/admin/nodes/{id}/free': 404
}

/** Fills the store of a service to its limits, and returns the endpoints with their values, and the accounts at its node. */
async function filledService(t: Test, dataDir: string) {
  const accounts = fakeAccounts()
  const secrets = new WebhookSecrets(Buffer.from(SECRET_KEY, 'hex'))
  const parts = { accounts, transactions: fakeTransactions(), webhooks: { ...fakeParts(), secrets } }
  const app = await marketApp(t, undefined, { ...parts, directory: join(dataDir, 'store') })
  const values = await fillDearStore(app, parts)
  const endpoints = app.app.served.map(({ endpoint }) => endpoint)
  const { slot } = app.deps.feed.head!
  const owner = pubkeyFromBase58(values.path['program']!)
  const query = { slot, limit: Infinity, examined: Infinity, matches: () => true }
  for await (const page of app.storage.programAccounts.pages(owner, query))
    for (const { address, account } of page.accounts) accounts.node.put(address, { ...account, owner })
  await app.app.close()
  await app.storage.close()
  return { accounts, values, endpoints, slot }
}

/** Starts the node of the service: it has accounts, and its head never moves. */
async function startNode(t: Test, { accounts, slot }: Awaited<ReturnType<typeof filledService>>) {
  const [node] = await fakeNodes(t, 1)
  node!.slot = slot
  answerAccounts(node!, accounts.node)
  const pubsub = await FakeNode.start()
  t.teardown(() => pubsub.close())
  return { MILLRACE_RPC_URL: node!.url, MILLRACE_RPC_WS_URL: pubsub.url }
}

t.test(
  'the dearest request of each endpoint holds a started service no longer than its slices',
  async (t) => {
    const directory = ownDirectory(t)
    const [dataDir, recordedDir] = [join(directory, 'data'), join(directory, 'recorded')]
    await mkdir(recordedDir, { recursive: true })
    const filled = await filledService(t, dataDir)
    const { values, endpoints } = filled
    const reader = await openWorkReader(t)
    const service = await startProcess({
      dataDir,
      recordedDir,
      environment: {
        ...reader.environment,
        ...(await startNode(t, filled)),
        MILLRACE_WEBHOOK_SECRET_KEY: SECRET_KEY,
        MILLRACE_RATE_LIMIT_PER_MINUTE: WITHOUT_LIMIT,
        MILLRACE_WORK_PER_MINUTE: WITHOUT_LIMIT
      }
    })
    t.teardown(() => service.end('SIGTERM'))
    const refused: Record<string, number> = {}
    /**
     * Asks until the answer is complete, and returns its status. On a starved machine the deadline may pass, which ends the work
     * early; after several tries most of the work has been counted, and the status is 0.
     */
    const ask = async ({ method, path, body }: DearRequest): Promise<number> => {
      const headers = {
        'x-api-key': values.key,
        ...(body !== undefined && { 'content-type': 'application/json' })
      }
      const request = { method, headers, ...(body !== undefined && { body }) }
      for (let tries = 0; tries < TRIES; tries++) {
        const answer = await fetch(service.url + path, { ...request, redirect: 'manual' })
        if (!(await answer.text()).includes('"code":"deadline_exceeded"')) return answer.status
      }
      return 0
    }
    /** Most slices between two polls of the sockets since the last call. */
    const slicesMax = async (): Promise<number> => {
      const { body } = await service.get('/metrics')
      return Number(/^millrace_work_slices_max (\d+)$/m.exec(String(body['text']))![1])
    }
    let mostSlices = 0
    const measure = async (request: DearRequest, name: string): Promise<void> => {
      const turn = await reader.during(async () => {
        const status = await ask(request)
        if (status >= 400) refused[name] = status
      })
      const { path } = request
      if (turn.calls > CALLS_MAX)
        t.fail(`${name} holds the event loop for ${turn.calls} calls`, { path, most: turn.most })
      const slices = await slicesMax()
      if (slices > SLICES_MAX) t.fail(`${name} holds the event loop for ${slices} slices`, { path })
      mostSlices = Math.max(mostSlices, slices)
    }
    const me = { method: 'GET', path: '/v1/me' } as const
    await until(async () => (await reader.during(async () => void (await ask(me)))).calls < CALMED_CALLS)
    // A delete removes what other requests need.
    for (const method of ['GET', 'POST', 'DELETE'])
      for (const endpoint of endpoints)
        if (endpoint.method === method)
          for (const request of dearestRequests(endpoint, values))
            await measure(request, `${method} ${endpoint.path}`)
    t.strictSame(refused, REFUSED)
    t.ok(mostSlices > 0, `slices are counted: ${mostSlices} at most`)
  }
)
