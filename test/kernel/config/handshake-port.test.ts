import t from 'tap'
import { handshakePortOf, localnetNodePort } from '../../../src/kernel/config/handshake-port.ts'
import { readConfig } from '../../../src/configuration.ts'
import type { Config } from '../../../src/kernel/config/config.ts'

function configOf(...args: readonly string[]): Config {
  const reading = readConfig(args, {})
  if (reading.kind === 'invalid') throw new Error(reading.problems.join())
  return reading.config
}

t.test('handshakes have a port of their own on a localnet by default, elsewhere if it is set', async (t) => {
  for (const [args, port] of [
    [[], 'next'],
    [['--port', '0'], 'next'],
    [['--rpc-ws-compat-port', 'off'], null],
    [['--rpc-ws-compat-port', '9000'], 9_000],
    [['--source', 'rpc'], null],
    [['--source', 'rpc', '--rpc-ws-compat-port', '8901'], 8_901],
    [['--source', 'recorded'], null],
    [['--role', 'gateway'], null]
  ] as const)
    t.equal(handshakePortOf(configOf(...args)), port, args.join(' '))
  for (const value of ['0', '65536', 'on', '1.5'])
    t.match(readConfig(['--rpc-ws-compat-port', value], {}), {
      kind: 'invalid',
      problems: [/^--rpc-ws-compat-port="?.*"? is /]
    })
})

t.test("the two ports of a localnet's node leave out the one for handshakes", async (t) => {
  for (const [args, port] of [
    [[], 8_902],
    [['--port', '0'], 0],
    [['--rpc-ws-compat-port', 'off'], 8_901],
    [['--rpc-ws-compat-port', '8901'], 8_902],
    [['--rpc-ws-compat-port', '8902'], 8_903],
    [['--rpc-ws-compat-port', '8903'], 8_901]
  ] as const)
    t.equal(localnetNodePort(configOf(...args)), port, args.join(' '))
})
