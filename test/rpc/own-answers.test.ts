import t from 'tap'
import type { MirroredAnswer } from '../../src/rpc/mirrored-accounts.ts'
import { parseRequest } from '../../src/rpc/requests.ts'
import type { GatewayDeps } from '../../src/rpc/rpc-gateway.ts'
import type { RunPiece } from '../../src/kernel/work/turns.ts'
import { callerWith, fakeRpc, fakeUpstreams } from './fake-rpc.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"getProgramAccounts","params":["P"]}'

/** Sends a batch of reads that the process answers itself, and returns the answers. */
async function batch(size: number, deps: Partial<GatewayDeps> & Pick<GatewayDeps, 'accounts'>) {
  const { gateway } = fakeRpc(fakeUpstreams(), [], deps.accounts, undefined, deps)
  const request = parseRequest(Buffer.from(`[${Array.from({ length: size }, () => CALL).join(',')}]`), 100)
  const { body } = await gateway.answer(request, {
    caller: callerWith(['rpc:read']),
    batchMax: 100,
    tracks: false,
    signal: new AbortController().signal
  })
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body!))
  return JSON.parse(bytes.toString()) as readonly {
    readonly result?: unknown
    readonly error?: { readonly message: string }
  }[]
}

t.test(
  'elements that the process answers run one after the other, each piece in a turn of its tenant',
  async (t) => {
    const tenants: string[] = []
    let running = 0
    let most = 0
    const answers = await batch(5, {
      accounts: {
        answer: async (
          _params: unknown,
          _signal: AbortSignal,
          runPiece: RunPiece
        ): Promise<MirroredAnswer> => {
          most = Math.max(most, ++running)
          await runPiece(async () => undefined)
          await runPiece(async () => undefined)
          running--
          return { result: [Buffer.from('[]')], slot: 1 }
        }
      },
      turns: {
        run: async (tenant, piece) => {
          tenants.push(tenant)
          return piece({ again: async () => undefined })
        }
      }
    })
    t.equal(answers.length, 5)
    t.equal(most, 1)
    t.strictSame(
      tenants,
      Array.from({ length: 10 }, () => 'acme')
    )
  }
)

t.test('elements beyond the bytes of an answer are refused, and not computed', async (t) => {
  let computed = 0
  const answers = await batch(100, {
    accounts: {
      answer: async (): Promise<MirroredAnswer> => {
        computed++
        return { result: [Buffer.from(`"${'x'.repeat(10 * 2 ** 20)}"`)], slot: 1 }
      }
    }
  })
  t.equal(computed, 4, 'three fit, and the fourth is beyond')
  t.strictSame(
    answers.map(({ error }) => error === undefined),
    answers.map((_, at) => at < 3)
  )
  t.match(answers[99], { error: { message: 'the answer is too large; request less data at once' } })
})

t.test('elements that are not computed within the time of a request are refused', async (t) => {
  let nowMs = 0
  const answers = await batch(100, {
    clock: { now: () => nowMs },
    accounts: {
      answer: async (_params: unknown, _signal: AbortSignal, runPiece: RunPiece): Promise<MirroredAnswer> => {
        await runPiece(async () => void (nowMs += 2_500))
        return { result: [Buffer.from('[]')], slot: 1 }
      }
    }
  })
  t.strictSame(
    answers.map(({ result }) => result !== undefined),
    answers.map((_, at) => at < 5)
  )
  t.match(answers[5], { error: { message: /could not be read in time/ } })
  t.equal(nowMs, 12_500)
})
