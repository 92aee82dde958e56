import type { ForeignSuite, SuiteCommand } from '../suite.ts'

const mocha = (name: string, files: string, environment: Readonly<Record<string, string>>): SuiteCommand => ({
  name,
  folder: 'clients/js-legacy',
  command: [
    'node',
    '{cache}/node_modules/mocha/bin/mocha.js',
    '--no-config',
    '--extension',
    'ts',
    // Three times the suite's own limit: the node and the service share a machine with the tests.
    '--timeout',
    '15000',
    '--exit',
    '--reporter',
    'json',
    '--reporter-option',
    'output={report}',
    files
  ],
  environment: { NODE_OPTIONS: '--import tsx', ...environment }
})

/** `@solana/spl-token`, the client of the token programs: its tests with both programs. */
export const TOKEN_2022: ForeignSuite = {
  name: 'token-2022',
  repository: 'https://github.com/solana-program/token-2022',
  commit: '426400f29d5f1e299be8b353fdf13f22358fbd68',
  installer: 'npm',
  report: 'mocha',
  replacements: [
    {
      file: 'clients/js-legacy/test/common.ts',
      from: "'http://127.0.0.1:8899'",
      to: 'process.env.FOREIGN_RPC_URL!'
    }
  ],
  commands: [
    mocha('token', 'test/e2e/*.test.ts', {}),
    mocha('token-2022', 'test/e2e*/*.test.ts', {
      TEST_PROGRAM_ID: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
    })
  ],
  programs: {
    TokenHookExampLe8smaVNrxTBezWTRbEwxwb1Zykrb:
      'clients/rust-legacy/tests/fixtures/spl_transfer_hook_example_no_default_features.so',
    recr1L3PCGKLbckBqMNcJhuuyU1zgo8nBhfLVsJNwr5: 'clients/rust-legacy/tests/fixtures/spl_record.so'
  },
  mirrored: []
}
