import type { HEALTH_REASONS } from '../edge/routes/health-reasons.ts'
import type { OperatorNote } from './alert.ts'

type ReasonCode = (typeof HEALTH_REASONS)[number]['code']

/** Remedies of each reason of `/v1/health`. The reason itself states its meaning. */
export const HEALTH_NOTES: Readonly<Record<ReasonCode, Omit<OperatorNote, 'meaning'>>> = {
  data_missing: {
    look: '`/v1/admin/tree`: the processes `source` and `ingest`, and their last errors.',
    action:
      'Check the URL and token of the source. On the first start with a node, the first block takes seconds.'
  },
  data_stale: {
    look: '`source` in the answer. `advancing`: ingest is slower than the chain. Other states have a reason of their own here. `chain_clock_lag_seconds` near the age means that the chain itself stands still.',
    action:
      'If ingest is slow, check the CPU time of the process and `millrace_commit_seconds`. If nodes lag, use others.'
  },
  store_away: {
    look: 'The nodes of the cluster (`nodetool status`), or the disk of an embedded store. The log has the error.',
    action: 'Restore the store. The service resumes by itself, and loses no block.'
  },
  chain_left: {
    look: 'The log line `the stored blocks may be on a fork`, and the slots of all nodes.',
    action:
      'If one node was restored to an older state, remove it from the list. Otherwise wait: blocks of the lost fork are removed, and stream clients are notified.'
  },
  store_damaged: {
    look: '`npx millrace verify --store` lists the damaged files.',
    action: 'Stop the service, run `npx millrace repair`, and start it again. Check the disk first.'
  },
  redis_away: {
    look: 'Redis, and the network to it.',
    action: 'Restart Redis. Nothing else is needed.'
  },
  role_missing: {
    look: '`npx millrace fleet`, and the log of the processes of the role that the reason names.',
    action: 'Start a process of that role. Other requests are answered meanwhile.'
  },
  deployment_differs: {
    look: '`npx millrace fleet`: the column `differs` of each process.',
    action:
      'Give all processes the same value of the setting that the reason names, and restart those that differ.'
  },
  source_away: {
    look: 'The nodes of the source: `npx millrace nodes`, or `getSlot` by hand.',
    action: 'Restore a node, or add another URL to the list and restart.'
  },
  source_stalled: {
    look: 'Whether the cluster itself stands still, and whether `getSlot` of the node grows.',
    action: 'If the cluster runs, restart the node or use another one.'
  },
  source_refused: {
    look: '`/v1/admin/tree`, the process `source`: its last error names the setting.',
    action: 'Correct the setting and restart.'
  }
}
