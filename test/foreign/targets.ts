import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { RealValidator } from '../node/real-validator.ts'
import { freePort } from '../servers/free-port.ts'
import { makeServerFolder, removeServerFolder } from '../servers/server-process.ts'
import { ADMIN_KEY, startProcess } from '../service/service-process.ts'
import type { SuiteFolder } from './checkout.ts'
import type { ForeignSuite } from './suite.ts'

/** Methods of a node that the suites call and that are not in the service's table. Rejected methods cannot be allowed. */
const ALLOWED = [
  ...['requestAirdrop', 'getIdentity', 'getRecentPerformanceSamples', 'minimumLedgerSlot'],
  ...['getHighestSnapshotSlot', 'getMaxRetransmitSlot', 'getMaxShredInsertSlot']
].join(',')
const MIRRORED_WITHIN_MS = 120_000

/** A node, or a service in front of one, that a suite runs against. */
export interface Target {
  readonly url: string
  readonly socketUrl: string
  end(): Promise<void>
}

/** Starts a node with the genesis that a suite expects. */
async function startNode(suite: ForeignSuite, folder: SuiteFolder): Promise<RealValidator> {
  const programs = Object.entries(suite.programs ?? {}).map(
    ([address, file]) => [address, readFileSync(join(folder.checkout, file))] as const
  )
  const node = await RealValidator.start({
    programs: Object.fromEntries(programs),
    ...(suite.accountsFolder !== undefined && {
      accountsFolder: join(folder.checkout, suite.accountsFolder)
    }),
    ...(suite.ledgerAt !== undefined && { logLevel: 'solana=info,agave=info' })
  })
  folder.showLedger(node.ledger, node.log)
  return node
}

/** Starts a node alone. */
export async function nodeTarget(suite: ForeignSuite, folder: SuiteFolder): Promise<Target> {
  const node = await startNode(suite, folder)
  return {
    url: `${node.url}/`,
    socketUrl: `ws://127.0.0.1:${node.port + 1}/`,
    end: () => node.end()
  }
}

/** Starts a node and the service in front of it. */
export async function serviceTarget(suite: ForeignSuite, folder: SuiteFolder): Promise<Target> {
  const node = await startNode(suite, folder)
  const dataDir = makeServerFolder('foreign')
  const port = await freePort(['127.0.0.1'])
  const service = await startProcess({
    dataDir,
    recordedDir: null,
    more: [
      ...['--source', 'rpc', '--rpc-url', node.url, '--rpc-allow', ALLOWED],
      // Clients that are given a port take the next one for the socket.
      ...['--port', String(port), '--rpc-ws-compat-port', String(port + 1)],
      ...['--rate-limit-per-minute', '1000000']
    ]
  })
  for (const program of suite.mirrored) await mirror(service.url, program)
  const query = `?api-key=${ADMIN_KEY}`
  return {
    url: `${service.url}/v1/rpc${query}`,
    socketUrl: `ws://127.0.0.1:${port + 1}/v1/rpc${query}`,
    async end() {
      if (service.child.exitCode === null) {
        const ended = once(service.child, 'exit')
        service.child.kill('SIGKILL')
        await ended
      }
      await node.end()
      removeServerFolder(dataDir)
    }
  }
}

async function mirror(url: string, program: string): Promise<void> {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  const added = await fetch(`${url}/v1/admin/programs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ program })
  })
  if (added.status !== 201) throw new Error(`${program} is not mirrored: ${await added.text()}`)
  const deadline = performance.now() + MIRRORED_WITHIN_MS
  for (;;) {
    const answer = await fetch(`${url}/v1/admin/programs`, { headers })
    const { data } = (await answer.json()) as { data: { program: string; state: string }[] }
    const isLive = data.find((each) => each.program === program)?.state === 'live'
    if (isLive && (await servesFinalized(url, program))) return
    if (performance.now() > deadline) throw new Error(`${program} is not mirrored in time`)
    await delay(200)
  }
}

/** Whether accounts of a program are served at finalized, the default of clients: about 13 s after the first snapshot. */
async function servesFinalized(url: string, program: string): Promise<boolean> {
  const config = { encoding: 'base64', dataSlice: { offset: 0, length: 0 } }
  const answer = await fetch(`${url}/v1/rpc`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getProgramAccounts', params: [program, config] })
  })
  return 'result' in ((await answer.json()) as object)
}
