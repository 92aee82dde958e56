import type { ForeignSuite } from '../suite.ts'

/** `solana-py`, whose tests take an external node by its environment variables. */
export const SOLANA_PY: ForeignSuite = {
  name: 'solana-py',
  repository: 'https://github.com/michaelhly/solana-py',
  commit: 'a48290848530e1bd899195723d27e12dda17eed5',
  installer: 'pip',
  report: 'junit',
  replacements: [
    {
      file: 'tests/conftest.py',
      from: 'os.environ.get("SOLANA_VALIDATOR_EXTERNAL_RPC_URL", "http://127.0.0.1:8899")',
      to: 'os.environ["FOREIGN_RPC_URL"]'
    },
    {
      file: 'tests/conftest.py',
      from: 'os.environ.get("SOLANA_VALIDATOR_EXTERNAL_WS_URL", "ws://127.0.0.1:8900")',
      to: 'os.environ["FOREIGN_SOCKET_URL"]'
    }
  ],
  commands: [
    {
      name: 'integration',
      folder: '.',
      command: [
        '{cache}/venv/bin/python',
        '-m',
        'pytest',
        'tests/integration',
        '-o',
        'addopts=',
        '-p',
        'no:anyio',
        '--junitxml={report}'
      ],
      environment: { SOLANA_VALIDATOR_EXTERNAL: '1', PYTHONPATH: 'src' }
    }
  ],
  mirrored: []
}
