import type { ForeignSuite } from '../suite.ts'

/** `@solana/web3.js` 1.x. Its tests derive the socket's URL from the RPC URL, as applications do. */
export const WEB3JS: ForeignSuite = {
  name: 'web3.js',
  repository: 'https://github.com/solana-labs/solana-web3.js',
  commit: '8ea27fcefe938eaec464c41bde15ac44c6821469',
  installer: 'npm',
  report: 'mocha',
  replacements: [
    { file: 'test/url.ts', from: "'http://127.0.0.1:8899/'", to: 'process.env.FOREIGN_RPC_URL!' },
    { file: 'test/url.ts', from: "'ws://127.0.0.1:8900/'", to: 'process.env.FOREIGN_SOCKET_URL!' },
    { file: 'test/url.ts', from: 'TEST_LIVE: string;', to: '[name: string]: string | undefined;' }
  ],
  commands: [
    {
      name: 'live',
      folder: '.',
      command: [
        'node',
        '{cache}/node_modules/mocha/bin/mocha.js',
        './test/**/*.test.ts',
        // The node, the service and the tests share a machine.
        '--timeout',
        '30000',
        '--exit',
        '--reporter',
        'json',
        '--reporter-option',
        'output={report}'
      ],
      environment: { TEST_LIVE: '1', NODE_ENV: 'test', NODE_OPTIONS: '--import tsx' }
    }
  ],
  accountsFolder: 'scripts/fixtures',
  mirrored: ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA']
}
