import type { ForeignSuite } from '../suite.ts'

const RPC = { from: "'http://127.0.0.1:8899'", to: 'process.env.FOREIGN_RPC_URL!' }

/** `@solana/kit`: the packages whose tests talk to a node. The tests of its other packages need no network. */
export const KIT: ForeignSuite = {
  name: 'kit',
  repository: 'https://github.com/anza-xyz/kit',
  commit: '56cfbe2712e95bdc939aed29f87d20049ba8ab2c',
  installer: 'npm',
  report: 'jest',
  replacements: [
    { file: 'packages/rpc-api/src/__tests__/__setup__.ts', ...RPC },
    { file: 'packages/sysvars/src/__tests__/__setup__.ts', ...RPC },
    { file: 'packages/rpc-graphql/src/__tests__/__setup__.ts', ...RPC },
    {
      file: 'packages/rpc-subscriptions-api/src/__tests__/__setup__.ts',
      from: "'ws://127.0.0.1:8900'",
      to: 'process.env.FOREIGN_SOCKET_URL!'
    },
    {
      file: 'packages/rpc-subscriptions/src/__tests__/rpc-subscriptions-functional-test.ts',
      from: "'ws://localhost:8900'",
      to: 'process.env.FOREIGN_SOCKET_URL!'
    }
  ],
  commands: [
    {
      name: 'node',
      folder: '.',
      command: [
        'node',
        '--no-experimental-webstorage',
        '{cache}/node_modules/jest/bin/jest.js',
        '--config',
        '{cache}/jest.config.cjs',
        '--maxWorkers=2',
        '--silent',
        '--json',
        '--outputFile={report}'
      ]
    }
  ],
  accountsFolder: 'scripts/fixtures',
  mirrored: [
    'DXngmJfjurhnAwbMPgpUGPH6qNvetCKRJ6PiD4ag4PTj',
    'AmtpVzo6H6qQCP9dH9wfu5hfa8kKaAFpTJ4aamPYR6V6',
    '11111111111111111111111111111111',
    'AddressLookupTab1e1111111111111111111111111',
    'BPFLoaderUpgradeab1e11111111111111111111111',
    'Config1111111111111111111111111111111111111',
    'Stake11111111111111111111111111111111111111',
    'Sysvar1111111111111111111111111111111111111',
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
    'Vote111111111111111111111111111111111111111'
  ],
  ledgerAt: 'test-ledger'
}
