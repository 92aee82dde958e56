import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import type { WebSocket } from 'ws'
import { RpcSockets, SWEEP_MS } from '../../../actors/rpc/pubsub/rpc-sockets.ts'
import { Caller } from '../../../src/access/caller.ts'
import { KeySockets } from '../../../src/access/key-sockets.ts'
import type { KeyDirectory } from '../../../src/access/key-directory.ts'
import { KEY } from '../../stream/stream-world.ts'
import { until } from '../../until.ts'
import { ADDRESS, PubsubWorld } from './pubsub-world.ts'

type Row = Caller['row']

/** A client's WebSocket; its messages are ignored. */
class FakeWs extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  closedWith: readonly [code: number, reason: string] | null = null

  ping(): void {
    this.emit('pong')
  }

  close(code: number, reason: string): void {
    this.closedWith ??= [code, reason]
    this.terminate()
  }

  terminate(): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.emit('close')
  }

  request(method: string, params: readonly unknown[]): void {
    this.emit('message', Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })))
  }
}

const socketOf = (): Socket =>
  Object.assign(new EventEmitter(), { writableLength: 0, write: () => true }) as unknown as Socket

t.test('an RPC socket follows the scopes and the end of its key within a second', async (t) => {
  const FULL: Row = { ...KEY, scopes: ['rpc:read', 'rpc:send'] }
  const ends: [name: string, row: Row | undefined, closedWith: readonly [number, RegExp]][] = [
    [
      'rpc:read is lost',
      { ...FULL, scopes: ['rpc:send', 'stream'] },
      [4403, /no longer has the scope rpc:read/]
    ],
    ['revoked', { ...FULL, revokedAtMs: 0 }, [4401, /is revoked/]],
    ['expired', { ...FULL, expiresAtMs: 0 }, [4401, /is expired/]],
    ['deleted', undefined, [4401, /is not known/]]
  ]
  t.ok(2 * SWEEP_MS <= 1_000)
  for (const [name, row, [code, reason]] of ends) {
    const world = new PubsubWorld(t)
    const node = await world.addNode()
    const scopesOfCalls: (readonly string[])[] = []
    const { gateway } = world.deps
    const sockets = new RpcSockets(
      {
        ...world.deps,
        gateway: {
          answer: async (request, context) => {
            scopesOfCalls.push(context.caller.scopes)
            return gateway.answer(request, context)
          }
        }
      },
      new KeySockets()
    )
    let present: Row | undefined = FULL
    const directory: Pick<KeyDirectory, 'caller'> = {
      caller: () => (present === undefined ? undefined : new Caller(present, 600_000))
    }
    sockets.guard(directory as KeyDirectory)
    const ws = new FakeWs()
    sockets.open(ws as unknown as WebSocket, socketOf(), new Caller(FULL, 600_000))
    ws.request('accountSubscribe', [ADDRESS])
    await until(() => node.of('account').length === 1)
    ws.request('sendTransaction', ['AA=='])
    await until(() => scopesOfCalls.length === 1)

    present = { ...FULL, scopes: ['rpc:read'] }
    sockets.sweep()
    t.equal(ws.closedWith, null, `${name}: without rpc:send the socket stays`)
    ws.request('sendTransaction', ['AA=='])
    await until(() => scopesOfCalls.length === 2)
    t.strictSame(scopesOfCalls, [['rpc:read', 'rpc:send'], ['rpc:read']], 'a call has the present scopes')

    present = row
    sockets.sweep()
    t.equal(ws.closedWith?.[0], code, name)
    t.match(ws.closedWith?.[1], reason)
    await until(() => node.of('account').length === 0)
    t.equal(sockets.size, 0)
    t.strictSame(world.faults, [])
  }
})
