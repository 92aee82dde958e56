import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import { BadUsage, type Invocation, type Row } from '../../kernel/cli/command.ts'
import type { Order } from '../../kernel/cli/service-client.ts'
import {
  ask,
  fieldTable,
  serviceOf,
  withRefusals,
  type ServiceAccess,
  type ServiceOptions
} from '../../kernel/cli/service-command.ts'

/** Poll interval of `--follow`, in milliseconds: about a slot, so that each state is seen. */
const POLL_INTERVAL_MS = 400
/** Timeout of the service in milliseconds: it may have to wait for its node. */
const ANSWER_MS = 15_000
/** States after which nothing changes. */
const FINAL: readonly unknown[] = ['finalized', 'failed', 'expired']

interface SendOptions extends ServiceOptions {
  readonly preflight?: true | undefined
  readonly via?: string | undefined
  readonly 'revert-protection'?: true | undefined
  readonly follow?: true | undefined
}

/** Sends the transaction of a file or of standard input. */
export async function sendTransaction(invocation: Invocation<SendOptions>): Promise<number> {
  const { options, operands, stdin } = invocation
  const service = serviceOf('tx:send', invocation)
  const [path = '-'] = operands
  const bytes = path === '-' ? await buffer(stdin) : await fileOf(path)
  return withRefusals(invocation, async () => {
    const signature = await send(service, {
      tx: base64Of(bytes),
      ...(options.preflight === true && { skip_preflight: false }),
      ...(options.via !== undefined && { via: options.via }),
      ...(options['revert-protection'] === true && { revert_protection: true })
    })
    print(invocation, { signature })
    return options.follow === true ? follow(service, invocation, signature) : 0
  })
}

interface StatusOptions extends ServiceOptions {
  readonly follow?: true | undefined
}

/** Shows the status of a transaction; with `--follow`, each change of its state. */
export async function transactionStatus(invocation: Invocation<StatusOptions>): Promise<number> {
  const { operands, options, stdout } = invocation
  const [signature = ''] = operands
  const service = serviceOf('tx:send', invocation)
  return withRefusals(invocation, async () => {
    if (options.follow === true) return follow(service, invocation, signature)
    const body = await ask(service, statusOrder(signature))
    for (const line of options.json === true ? [JSON.stringify(body)] : fieldTable(body)) stdout(line)
    return 0
  })
}

/** Sends a transaction; resolves with its signature. */
export async function send(service: ServiceAccess, body: Row): Promise<string> {
  const sent = await ask(service, { method: 'POST', path: '/v1/tx/send', body, answerMs: ANSWER_MS })
  return String(sent.signature)
}

/**
 * Prints each change of a transaction's state until it is final, or until an interrupt. Resolves with 1 if it has failed or
 * expired.
 */
export async function follow(
  service: ServiceAccess,
  invocation: Invocation<ServiceOptions>,
  signature: string
): Promise<number> {
  let shown: string | null = null
  while (!invocation.interrupted.aborted) {
    const body = await ask(service, statusOrder(signature))
    // A transaction that was not submitted here has no state of its own.
    const state = body.state ?? body.status
    const look = JSON.stringify([state, body.slot, body.err])
    if (look !== shown) printChange(invocation, body, String(state))
    shown = look
    if (FINAL.includes(state)) return state === 'finalized' && body.err === null ? 0 : 1
    await wait(POLL_INTERVAL_MS, undefined, { signal: invocation.interrupted }).catch(() => undefined)
  }
  return 0
}

function printChange({ options, stdout }: Invocation<ServiceOptions>, body: Row, state: string): void {
  if (options.json === true) return stdout(JSON.stringify(body))
  const facts = [
    body.slot !== null && `slot ${JSON.stringify(body.slot)}`,
    body.err !== null && `error ${JSON.stringify(body.err)}`,
    body.landed_ms !== null && `landed after ${JSON.stringify(body.landed_ms)} ms`,
    Number(body.rebroadcasts) > 0 && `resent ${String(body.rebroadcasts)} times`
  ].filter((fact) => fact !== false)
  stdout([state.padEnd(9), ...facts].join('  ').trimEnd())
}

function print({ options, stdout }: Invocation<ServiceOptions>, body: Row): void {
  stdout(options.json === true ? JSON.stringify(body) : String(body.signature))
}

function statusOrder(signature: string): Order {
  return { method: 'GET', path: `/v1/tx/${encodeURIComponent(signature)}/status`, answerMs: ANSWER_MS }
}

async function fileOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new BadUsage(`${path} cannot be read: ${(cause as Error).message}`)
  }
}

/** Returns the base64 of a transaction that a file has in base64 or raw. The first byte of a raw one is not text. */
function base64Of(bytes: Buffer): string {
  const text = bytes.toString('latin1').trim()
  return /^[A-Za-z0-9+/=_-]+$/.test(text) ? text : bytes.toString('base64')
}
