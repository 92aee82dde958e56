import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { RPC_PATH } from '../../src/kernel/http/handshake.ts'
import { systemPorts } from '../../src/ports.ts'
import { RPC_METHODS } from '../../src/rpc/methods.ts'
import { MirroredAccounts } from '../../src/rpc/mirrored-accounts.ts'
import { HTTP_BATCH_MAX } from '../../src/rpc/rpc-error.ts'
import { processTurns, Turns } from '../../src/kernel/work/turns.ts'
import { fakeAccounts } from '../accounts/fake-account-node.ts'
import { ALL_FINALIZED, fakeRpc, fakeUpstreams, resultOf } from '../rpc/fake-rpc.ts'
import { fakeTransactions } from '../transactions/fake-transactions.ts'
import { fakeParts } from '../webhooks/fake-parts.ts'
import { fillDearStore } from './dear-store.ts'
import { dearestBatch, dearestRequests, type DearRequest } from './dearest-requests.ts'
import { LoopWork, machineSpeed } from './loop-work.ts'
import { marketApp } from './market-app.ts'

/** Maximum calls in one turn of the event loop: the 5 ms that a slice may take, where a call takes 50 ns. */
const CALLS_MAX = 100_000 * machineSpeed()
/** Characters of each answer of a node. Longer ones are those of test/rpc/long-answer-turns.test.ts. */
const ANSWER_LENGTH = 8_000
/** Milliseconds in which a test on a busy machine gives each answer, instead of seconds. */
const PATIENT_MS = 600_000

/** Returns the paths of routes that no endpoint declares, such as documents, as they are added. */
function undeclaredPaths(app: FastifyInstance): () => string[] {
  const paths = new Set<string>()
  app.addHook('onRoute', ({ url, method }) => {
    if ([method].flat().includes('GET')) paths.add(url.replaceAll(/:(\w+)/g, '{$1}'))
  })
  return () => [...paths].filter((path) => app.served.every(({ endpoint }) => endpoint.path !== path))
}

/** An app over a store that is filled to its limits, and the requests that have been refused. */
export interface DearWorld {
  /** Measures the dearest requests of the endpoints with a method, in the order in which they are declared. */
  readonly measureAll: (method: string) => Promise<void>
  /** Measures the routes that no endpoint declares, such as documents. */
  readonly measureUndeclared: () => Promise<void>
  /** Measures a batch of each JSON-RPC method. */
  readonly measureRpc: () => Promise<void>
  /** Statuses of refused requests, by method and path. */
  readonly refused: Readonly<Record<string, number>>
}

/** Opens a world in which a request that holds the event loop for too many calls fails the test. */
export async function openDearWorld(t: Test): Promise<DearWorld> {
  const parts = { accounts: fakeAccounts(), transactions: fakeTransactions(), webhooks: fakeParts() }
  const text = `"${'x'.repeat(ANSWER_LENGTH)}"`
  const patient = { ...systemPorts.clock, setTimeout: (run: () => void) => setTimeout(run, PATIENT_MS) }
  const turns = new Turns(processTurns(patient))
  const mirror: { accounts: MirroredAccounts | null } = { accounts: null }
  const fromMirror: MirroredAccounts['answer'] = (...args) => mirror.accounts!.answer(...args)
  const upstreams = fakeUpstreams(() => resultOf(text, 1))
  const rpc = {
    ...fakeRpc(upstreams, [], { answer: fromMirror }, undefined, { turns }),
    finalized: ALL_FINALIZED
  }
  const app = await marketApp(t, undefined, { ...parts, turns, rpc, timerMs: () => PATIENT_MS })
  mirror.accounts = new MirroredAccounts(app.storage, () => undefined, ALL_FINALIZED)
  const undeclared = undeclaredPaths(app.app)
  const values = await fillDearStore(app, parts)
  const base = await app.app.listen({ host: '127.0.0.1', port: 0 })
  const work = LoopWork.start(t)
  const refused: Record<string, number> = {}
  const measure = async ({ method, path: url, body }: DearRequest, name: string): Promise<void> => {
    const headers = {
      'x-api-key': values.key,
      ...(body !== undefined && { 'content-type': 'application/json' })
    }
    let status = 0
    const turn = await work.dearestTurn(async () => {
      const answer = await fetch(`${base}${url}`, {
        method,
        headers,
        redirect: 'manual',
        ...(body !== undefined && { body })
      })
      status = answer.status
      await answer.arrayBuffer()
    })
    if (status >= 400) refused[name] = status
    if (turn.calls > CALLS_MAX)
      t.fail(`${name} holds the event loop for ${turn.calls} calls`, { url, most: turn.most })
  }
  const measureAll = async (method: string): Promise<void> => {
    for (const { endpoint } of app.app.served)
      if (endpoint.method === method)
        for (const request of dearestRequests(endpoint, values))
          await measure(request, `${method} ${endpoint.path}`)
  }
  return {
    measureAll,
    async measureUndeclared() {
      for (const path of undeclared()) await measure({ method: 'GET', path }, `GET ${path}`)
    },
    async measureRpc() {
      for (const method of RPC_METHODS) {
        const body = dearestBatch(method, HTTP_BATCH_MAX, values)
        await measure({ method: 'POST', path: RPC_PATH, body }, method.name)
      }
    },
    refused
  }
}
