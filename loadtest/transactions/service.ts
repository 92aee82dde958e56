import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { giveServersCore } from '../cores.ts'
import { startMeasured, type MeasuredProcess } from '../measured-process.ts'

const ADMIN_KEY = 'an-admin-key-of-the-loadtest'
const POLL_INTERVAL_MS = 200
const POLLS_MAX = 600

/** The service on an embedded store, with a node that it reads blocks from and sends to, and tenants that send. */
export interface SendingService {
  readonly process: MeasuredProcess
  /** One key of each tenant. */
  readonly keys: readonly string[]
  /** Resolves once no transaction is tracked any more. Rejects after two minutes. */
  ended(): Promise<void>
  close(): Promise<void>
}

/** Starts the service with a number of tenants; `storage` are settings of another store than the embedded one. */
export async function startSending(
  nodeUrl: string,
  tenants: number,
  hasCore: boolean,
  storage: NodeJS.ProcessEnv = {}
): Promise<SendingService> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-sending-'))
  const flags = ['--data-dir', directory, '--port', '0', '--source', 'rpc']
  const env = {
    MILLRACE_ADMIN_KEY: ADMIN_KEY,
    MILLRACE_LOG_LEVEL: 'warn',
    MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000000',
    MILLRACE_WORK_PER_MINUTE: '1000000000000',
    MILLRACE_RPC_URL: nodeUrl,
    MILLRACE_TPU: 'off',
    ...storage
  }
  const service = await startMeasured('../src/kernel/cli/millrace.js', ['serve', ...flags], { env })
  if (hasCore) giveServersCore(service.pid)
  const create = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
    const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as Record<string, unknown>
  }
  const keys: string[] = []
  for (let n = 0; n < tenants; n++) {
    await create('/v1/admin/tenants', { name: `tenant-${n}` })
    keys.push(String((await create('/v1/admin/keys', { tenant: `tenant-${n}` })).key))
  }
  const isTracked = async (key: string): Promise<boolean> => {
    // Most are confirmed for the longest time, so one of them is found at once.
    for (const state of ['confirmed', 'sent']) {
      const path = `/v1/tx?status=${state}&limit=1`
      const answer = await fetch(service.url + path, { headers: { 'x-api-key': key } })
      // A machine that is busy with their ends may refuse the list; they are then still tracked.
      if (!answer.ok || ((await answer.json()) as { data: readonly unknown[] }).data.length > 0) return true
    }
    return false
  }
  return {
    process: service,
    keys,
    async ended() {
      for (let polls = 0; polls < POLLS_MAX; polls++) {
        if (!(await Promise.all(keys.map(isTracked))).includes(true)) return
        await pause(POLL_INTERVAL_MS)
      }
      throw new Error('transactions are still tracked after two minutes')
    },
    async close() {
      await service.end()
      for (const line of service.stderr.slice(0, 5)) process.stderr.write(`${line}\n`)
      rmSync(directory, { recursive: true })
    }
  }
}
