import type { OperatorNote } from './alert.ts'

/** Remedies of each problem code of status 500 or more. The page of the problem states its meaning. */
export const PROBLEM_NOTES: Readonly<Record<string, Omit<OperatorNote, 'meaning'>>> = {
  internal: {
    look: 'The log line with the `request_id` of the answer, at level `error`.',
    action: 'Report the line: this is a fault of Millrace.'
  },
  draining: {
    look: 'Whether somebody is stopping the process.',
    action: 'Nothing. If balancers still send requests, drain them first.'
  },
  storage_unavailable: {
    look: '`store_away` and `store_damaged` in `/v1/health`, and `millrace_storage_outage_seconds`.',
    action: 'Restore the store.'
  },
  deadline_exceeded: {
    look: '`millrace_work_seconds_total` by tenant, and the event loop delay.',
    action: 'If one tenant takes most, lower its quota `work`. If all do, add a gateway.'
  },
  index_loading: {
    look: 'The age of the process. Loading ends within seconds of a start. On a cluster, `millrace_index_held` of all gateways: two have 1.',
    action:
      'Nothing, unless it lasts for minutes. Then the store is slow, or every gateway has `MILLRACE_INDEX_HOLDER=false`.'
  },
  upstream_error: {
    look: '`npx millrace nodes`, and `millrace_rpc_node_requests_total` by node and outcome.',
    action: 'Restore or cordon the node that fails.'
  },
  upstream_timeout: {
    look: '`millrace_rpc_node_latency_seconds` by node and method.',
    action: 'Cordon the slow node, or raise `MILLRACE_RPC_DEADLINE_MS`.'
  },
  not_configured: {
    look: 'The `detail` of the answer: it names what is missing.',
    action: 'Set the URL that it names, and restart.'
  },
  outcome_unknown: {
    look: '`millrace_storage_outage_seconds` at the time of the request.',
    action: 'Restore the store. Clients repeat the request with its `Idempotency-Key`.'
  },
  restarting: {
    look: '`/v1/admin/tree`: the component with the newest restart, and its last error.',
    action: 'Nothing for a single restart. If it keeps restarting, report its error.'
  },
  role_missing: {
    look: '`npx millrace fleet`, `role_missing` in `/v1/health`, and the log of the processes of that role.',
    action:
      'Start a process of the role (`--role delivery`). Requests are accepted within a second of its start.'
  },
  not_served_here: {
    look: 'The roles, the products and the node of the process: `npx millrace fleet`, and `deployment_differs` in `/v1/health`.',
    action:
      'Send the route to gateways only, and only to those whose `MILLRACE_PRODUCTS` has the product. If such a gateway lacks it, give it the `MILLRACE_RPC_URL` of the others.'
  }
}
