import type { SettingName } from '../config/config.ts'
import { command, type CommandGroup } from './command.ts'

const settings = ['key', 'host', 'port'] as const satisfies readonly SettingName[]
const details = 'Asks a running service, with a key of the tenant that has the scope `tx:send`.'
const everywhere = {
  json: { meaning: 'print JSON objects instead of a table' },
  url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
} as const
const via = { value: 'jito', meaning: 'send it by the block engine alone; it needs a tip' } as const
const ENDS = 'Exits with 1 if it fails or expires.'

export const TRANSACTIONS: CommandGroup = {
  summary: 'Sends transactions, and shows what becomes of them.',
  verbs: {
    send: command({
      summary: 'Sends a signed transaction, and prints its signature.',
      details: `${details} The file has the transaction in base64 or as it is; \`-\` reads standard input.`,
      operands: 'FILE|-',
      options: {
        preflight: { meaning: 'simulate it first, and do not send it if that fails' },
        via,
        'revert-protection': { meaning: 'with --via: it lands only if it succeeds' },
        follow: { meaning: `print each change of its state until it is final. ${ENDS}` },
        ...everywhere
      },
      settings,
      examples: ['millrace tx send signed.txt --follow --key $KEY'],
      run: async (invocation) => (await import('./transactions.ts')).sendTransaction(invocation)
    }),
    status: command({
      summary: 'Shows the status of a transaction.',
      details,
      operands: 'SIGNATURE',
      options: {
        follow: { meaning: `print each change of its state until it is final. ${ENDS}` },
        ...everywhere
      },
      settings,
      examples: ['millrace tx status SIGNATURE --follow --key $KEY'],
      run: async (invocation) => (await import('./transactions.ts')).transactionStatus(invocation)
    }),
    list: command({
      summary: 'Lists the transactions that the tenant has submitted, newest first.',
      details,
      options: {
        status: {
          value: 'STATE',
          meaning: 'only those that are sent, processed, confirmed, finalized, failed or expired'
        },
        limit: { value: 'COUNT', meaning: 'number of transactions, at most 1000; default: 20' },
        ...everywhere
      },
      settings,
      examples: ['millrace tx list --status failed --key $KEY'],
      run: async (invocation) => (await import('./transactions.ts')).listTransactions(invocation)
    }),
    transfer: command({
      summary: 'Signs a transfer of SOL, sends it by the service, and follows it until it is finalized.',
      details: `${details} The blockhash, and on a localnet the SOL of a new key pair, come from the first node of --rpc-url. ${ENDS}`,
      options: {
        from: {
          value: 'FILE',
          meaning:
            'key pair of the payer, as solana-keygen writes it; default: a new one that a localnet funds'
        },
        to: { value: 'ADDRESS', meaning: 'the receiver; default: a new address' },
        lamports: { value: 'COUNT', meaning: 'lamports to transfer; default: 1000000' },
        priority: {
          value: 'PERCENTILE',
          meaning: 'pay a priority fee as others do who write to the accounts: p25, p50, p75, p90 or max'
        },
        via: { ...via, meaning: 'send it by the block engine alone, with a tip that lands half the time' },
        ...everywhere
      },
      settings: [...settings, 'rpcUrl'],
      examples: ['millrace tx transfer --rpc-url http://127.0.0.1:PORT --priority p75 --key $KEY'],
      run: async (invocation) => (await import('./transfer.ts')).transfer(invocation)
    })
  }
}
