import { command, requestsOf, SERVICE, type CommandGroup, type Commands } from '../kernel/cli/command.ts'

const { settings, options: everywhere } = SERVICE
const details = 'Sends requests to a running service. The key of the tenant needs the scope `tx:send`.'
const via = { value: 'jito', meaning: 'send it only through the block engine; it needs a tip' } as const
const ENDS = 'Exits with 1 if it fails or expires.'

const TRANSACTIONS: CommandGroup = {
  position: 170,
  summary: 'Sends transactions, and shows their status.',
  verbs: {
    send: command({
      summary: 'Sends a signed transaction, and prints its signature.',
      details: `${details} The file has the transaction in base64 or binary; \`-\` reads standard input.`,
      operands: 'FILE|-',
      options: {
        preflight: { meaning: 'simulate it first, and do not send it if the simulation fails' },
        via,
        'revert-protection': { meaning: 'with --via: it lands only if it succeeds' },
        follow: { meaning: `print each change of its state until it is final. ${ENDS}` },
        ...everywhere
      },
      settings,
      examples: ['millrace tx send signed.txt --follow --key $KEY'],
      run: async (invocation) => (await import('./commands/transactions.ts')).sendTransaction(invocation)
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
      run: async (invocation) => (await import('./commands/transactions.ts')).transactionStatus(invocation)
    }),
    list: requestsOf({ ...SERVICE, details })({
      summary: 'Lists the transactions that the tenant has submitted, newest first.',
      examples: ['millrace tx list --status failed --key $KEY'],
      endpoint: async () => (await import('./routes/transactions.ts')).listTransactions,
      flags: {
        status: {
          value: 'STATE',
          meaning: 'only transactions in this state: sent, processed, confirmed, finalized, failed or expired'
        },
        limit: {
          value: 'COUNT',
          fallback: '20',
          meaning: 'number of transactions, at most 1000; default: 20'
        }
      },
      columns: 'received_at signature state slot err route rebroadcasts landed_ms'
    }),
    transfer: command({
      summary: 'Signs a transfer of SOL, sends it through the service, and follows it until it is finalized.',
      details: `${details} The blockhash comes from the first node of --rpc-url. On a localnet, that node also funds a new key pair. ${ENDS}`,
      options: {
        from: {
          value: 'FILE',
          meaning:
            'key pair file of the payer, as solana-keygen writes it; default: a new key pair, funded by a localnet'
        },
        to: { value: 'ADDRESS', meaning: 'the receiver; default: a new address' },
        lamports: { value: 'COUNT', meaning: 'lamports to transfer; default: 1000000' },
        priority: {
          value: 'PERCENTILE',
          meaning: 'percentile of the recent priority fees for the same accounts: p25, p50, p75, p90 or max'
        },
        via: {
          ...via,
          meaning: 'send it only through the block engine, with the median of recently landed tips'
        },
        ...everywhere
      },
      settings: [...settings, 'rpcUrl'],
      examples: ['millrace tx transfer --rpc-url http://127.0.0.1:PORT --priority p75 --key $KEY'],
      run: async (invocation) => (await import('./commands/transfer.ts')).transfer(invocation)
    })
  }
}

export const TRANSACTION_COMMANDS: Commands = { tx: TRANSACTIONS }
