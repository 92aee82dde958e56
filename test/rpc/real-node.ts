import { Connection } from '@solana/web3.js'
import type { Test } from 'tap'
import { conformance } from '../../src/rpc/commands/conformance.ts'
import { openRpcEndpoint } from '../../src/rpc/commands/rpc-endpoint.ts'
import { chainFacts, type ChainFacts } from '../../src/rpc/conformance-cases.ts'
import { compared } from '../../src/rpc/conformance.ts'
import { RPC_METHODS } from '../../src/rpc/methods.ts'
import type { RealValidator } from '../node/real-validator.ts'
import { closeConnection, walkThrough } from '../node/web3-flows.ts'
import { kitCalls, outcomeOf, web3Calls, type LibraryCalls } from './library-calls.ts'
import { kitSession, web3Session } from './pubsub/wallet.ts'

/** The RPC URL of a service and its socket, with a key, in front of a validator. */
export interface RpcUrls {
  readonly url: string
  readonly socketUrl: string
}

/** Proves that clients take the RPC URL for the validator behind it: wallets, libraries, and requests of every method. */
export async function proveDropIn(
  t: Test,
  { url, socketUrl }: RpcUrls,
  validator: RealValidator
): Promise<void> {
  const connection = new Connection(url, {
    commitment: 'confirmed',
    wsEndpoint: socketUrl,
    disableRetryOnRateLimit: true
  })
  t.teardown(() => closeConnection(connection))
  const { flows, wallet } = await walkThrough(connection)
  t.same(
    flows.map(({ name, err }) => [name, err]),
    [
      ...['airdrop', 'transfer', 'mint', 'token transfer', 'lookup table', 'versioned transfer'].map(
        (name) => [name, null]
      ),
      ['failing transfer', { InstructionError: [0, { Custom: 1 }] }]
    ],
    "a wallet's session with web3.js"
  )
  await web3Session(t, url, socketUrl)
  await kitSession(t, url, socketUrl)

  const last = flows.at(-1)!.slot
  while ((await validator.connection.getSlot('finalized')) < last)
    await new Promise((next) => setTimeout(next, 100))
  const { ask } = await openRpcEndpoint('--node', validator.url)
  const facts: ChainFacts = {
    ...(await chainFacts(ask)),
    slot: flows[2]!.slot,
    signature: flows[2]!.signature,
    address: wallet.payer.publicKey.toBase58(),
    mint: wallet.mint.toBase58(),
    tokenAccount: wallet.tokens.toBase58()
  }
  await t.test('every method of web3.js and kit gives what it gives on the node', async (t) => {
    await compareCalls(t, 'web3.js', web3Calls(connection, facts), web3Calls(validator.connection, facts))
    await compareCalls(t, 'kit', kitCalls(url, facts), kitCalls(validator.url, facts))
    const called = new Set(Object.keys(kitCalls(url, facts)).map((name) => name.split(' ')[0]))
    const elsewhere = new Set(['getGenesisHash', 'getProgramAccounts'])
    t.same(
      RPC_METHODS.filter(({ name }) => !called.has(name) && !elsewhere.has(name)),
      [],
      'no method is left out'
    )
  })
  for (const [name, against, node] of [
    ['over HTTP', url, validator.url],
    ['over a socket', socketUrl, validator.url],
    ['subscriptions', socketUrl, `ws://127.0.0.1:${validator.port + 1}`]
  ] as const)
    await t.test(`millrace conformance, ${name}: no client would notice a difference`, async (t) => {
      const lines: string[] = []
      const stdout = (line: string): void => void lines.push(line)
      const interrupted = new AbortController().signal
      const code = await conformance(
        { options: { against, node }, stdout, stderr: stdout, interrupted },
        facts
      )
      t.equal(code, 0, lines.filter((line) => line.includes('service:')).join('\n'))
      t.comment(lines.at(-1)!)
    })
}

/** Compares by what both give, but for the slots of the moment. */
async function compareCalls(
  t: Test,
  library: string,
  ours: LibraryCalls,
  theirs: LibraryCalls
): Promise<void> {
  for (const name of Object.keys(ours)) {
    for (let look = 1; ; look++) {
      const [mine, other] = await Promise.all([outcomeOf(ours[name]!), outcomeOf(theirs[name]!)])
      const method = { method: name.split(' ')[0]!, params: '' }
      const { kind } = compared(method, { body: mine }, { body: other })
      if (kind !== 'equal' && look < 3) continue
      t.equal(kind, 'equal', `${library} ${name}: ${JSON.stringify(mine)} and ${JSON.stringify(other)}`)
      break
    }
  }
}
