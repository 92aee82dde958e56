import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { NOON, transactionClient, transferText } from '../transactions/transaction-client.ts'
import { sentProgress, TIP_ACCOUNT } from '../transactions/fake-transactions.ts'
import { signedWire, toBase64, transfer } from '../transactions/signed.ts'
import { runCommand } from './run-command.ts'

/** A listening service, and the command `millrace tx` with a key of `acme`. */
async function service(t: Test) {
  const app = await transactionClient(t)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const key = await app.makeKey(['tx:send'])
  const environment = { MILLRACE_KEY: key, MILLRACE_PORT: String(port) }
  const directory = t.testdirName
  const tx = (...args: string[]) => runCommand(['tx', ...args], environment)
  const file = (name: string, content: string | Uint8Array): string => {
    const path = join(directory, name)
    writeFileSync(path, content)
    return path
  }
  return { app, tx, file, parts: app.parts }
}

t.test('a transaction of a file is sent, in base64 or as it is', async (t) => {
  const { tx, file, parts } = await service(t)
  const bytes = signedWire([transfer(1n)])
  const signature = encodeBase58(bytes.subarray(1, 65))
  t.match(await tx('send', file('signed.txt', `${toBase64(bytes)}\n`)), {
    code: 0,
    lines: [signature],
    stderr: ''
  })
  t.match(await tx('send', file('signed.bin', bytes), '--json'), {
    code: 0,
    lines: [`{"signature":"${signature}"}`]
  })
  t.equal(parts.begun.length, 1)

  const tipped = file('tipped.txt', transferText(1_000n, TIP_ACCOUNT))
  t.equal((await tx('send', tipped, '--via', 'jito', '--revert-protection')).code, 0)
  t.match(parts.begun[1], { route: 'jito', revertProtection: true })
  parts.simulation = { err: 'AccountNotFound', logs: [], unitsConsumed: 0 }
  t.match(await tx('send', file('poor.txt', transferText(3n)), '--preflight'), {
    code: 1,
    lines: [],
    stderr: 'millrace: the simulation of tx failed; see err and logs'
  })
})

t.test('a transaction is followed until its state is final', async (t) => {
  const { tx, app, parts } = await service(t)
  const signature = await app.submit(1n)
  const landed = { slot: 9, landedAtMs: NOON + 300, rebroadcasts: 1 }
  parts.tracked.set(signature, sentProgress(NOON))
  const followed = tx('status', signature, '--follow')
  const read = Promise.withResolvers<void>()
  const get = parts.tracked.get.bind(parts.tracked)
  parts.tracked.get = (key) => {
    // The state that this read returns is shown first.
    setImmediate(read.resolve)
    return get(key)
  }
  await read.promise
  parts.tracked.set(signature, sentProgress(NOON, { ...landed, state: 'finalized', commitment: 'finalized' }))
  t.match(await followed, {
    code: 0,
    lines: ['sent', 'finalized  slot 9  landed after 300 ms  resent 1 times']
  })

  const failed = { ...landed, state: 'failed', commitment: 'finalized', err: 'AccountInUse' } as const
  parts.tracked.set(signature, sentProgress(NOON, failed))
  t.match(await tx('status', signature, '--follow'), {
    code: 1,
    lines: [/^failed +slot 9 +error "AccountInUse"/]
  })
  parts.tracked.set(signature, sentProgress(NOON, { state: 'expired' }))
  t.match(await tx('status', signature, '--follow', '--json'), { code: 1, lines: [/"expired":true/] })
})

t.test('the status of a transaction and the list are tables', async (t) => {
  const { tx, app } = await service(t)
  const signature = await app.submit(1n)
  const shown = await tx('status', signature)
  t.equal(shown.code, 0)
  t.ok(shown.lines.some((line) => /^tracking +true$/.test(line)))
  const list = await tx('list')
  t.match(list.lines, [/^received_at +signature +state/, new RegExp(`${signature} +sent`)])
  t.match((await tx('list', '--status', 'expired')).lines.length, 1)
  t.match((await tx('list', '--json', '--limit', '1')).rows(), [{ signature }])
})

t.test('a command that the service or the command line refuses ends with its reason', async (t) => {
  const { tx, file } = await service(t)
  const cases: [args: string[], code: number, stderr: RegExp][] = [
    [['send', join(t.testdirName, 'none')], 2, /cannot be read/],
    [['send', file('bad.txt', 'AAAA')], 2, /^millrace: tx is not a valid transaction/],
    [['send', file('via.txt', transferText(1n)), '--via', 'x'], 2, /via must be one of jito/],
    [['send', file('tip.txt', transferText(1n)), '--via', 'jito'], 1, /tx has no tip/],
    [['status', 'abc'], 2, /signature must be a base58 signature/],
    [['status', 'abc', '--follow'], 2, /signature must be a base58 signature/],
    [['list', '--status', 'landed'], 2, /status must be one of sent/],
    [['list', '--limit', 'x'], 2, /--limit is not a whole number/],
    [['transfer'], 2, /set a node for the blockhash/],
    [
      ['transfer', '--rpc-url', 'http://127.0.0.1:1', '--priority', 'p99'],
      2,
      /--priority must be one of p25/
    ],
    [['transfer', '--rpc-url', 'http://127.0.0.1:1', '--lamports', '0'], 2, /--lamports is not/],
    [['transfer', '--rpc-url', 'http://127.0.0.1:1', '--to', 'x'], 2, /--to is not an address/],
    [['transfer', '--rpc-url', 'http://127.0.0.1:1'], 1, /does not fund a new key pair/]
  ]
  for (const [args, code, stderr] of cases)
    t.match(await tx(...args), { code, lines: [], stderr }, args.join(' '))
})
