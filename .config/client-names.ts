/**
 * Names of the operations in the client, as `namespace.method`. An operation without a row here gets its name from its path
 * (`nameOf`). Null leaves an operation out: the client has another form of it.
 */
export const CLIENT_NAMES: Readonly<Record<string, string | null>> = {
  'GET /v1/candles': 'market.candles',
  'GET /v1/coverage': 'market.coverage',
  'GET /v1/launches': 'market.launches',
  'GET /v1/search': 'market.search',
  'GET /v1/stats': 'market.stats',
  'GET /v1/trades': 'market.trades',
  'GET /v1/trending': 'market.trending',
  'GET /v1/prices': 'tokens.prices',
  'GET /v1/metadata': 'tokens.metadataBatch',
  'GET /v1/metadata/{mint}': 'tokens.metadata',
  'GET /v1/priority-fees': 'tx.fees',
  'POST /v1/tx/bundle': 'tx.bundles.send',
  'GET /v1/tx/bundle/{bundle_id}/status': 'tx.bundles.status',
  'GET /v1/revenue/accounts': 'revenue.accounts',
  'POST /v1/revenue/accounts': 'revenue.watch',
  'DELETE /v1/revenue/accounts/{address}': 'revenue.unwatch',
  'POST /v1/revenue/accounts/{address}/archive': 'revenue.archive',
  'POST /v1/revenue/accounts/{address}/backfill': 'revenue.backfill',
  'GET /v1/admin/keys': 'admin.keys.list',
  'POST /v1/admin/keys': 'admin.keys.create',
  'GET /v1/admin/keys/{id}': 'admin.keys.get',
  'DELETE /v1/admin/keys/{id}': 'admin.keys.revoke',
  'POST /v1/admin/keys/{id}/rotate': 'admin.keys.rotate',
  'GET /v1/admin/nodes': 'admin.nodes.list',
  'POST /v1/admin/nodes/{id}/cordon': 'admin.nodes.cordon',
  'POST /v1/admin/nodes/{id}/free': 'admin.nodes.free',
  'GET /v1/admin/programs': 'admin.programs.list',
  'POST /v1/admin/programs': 'admin.programs.add',
  'DELETE /v1/admin/programs/{program}': 'admin.programs.remove',
  'GET /v1/admin/tenants': 'admin.tenants.list',
  'POST /v1/admin/tenants': 'admin.tenants.create',
  'GET /live': 'live',
  'GET /ready': 'ready',
  'GET /v1/health': 'health',
  'GET /v1/me': 'me',
  'GET /v1/stream/health': 'streamHealth',
  'GET /metrics': 'metrics',
  // Bytes, for an `img` of a page.
  'GET /v1/tokens/{mint}/image': null,
  'POST /v1/rpc': null
}

/**
 * Changes that the service recognizes by their content: a signature is stored once. They are repeatable without an idempotency
 * key, which would cost the service a write before each answer.
 */
export const RECOGNIZED: readonly string[] = ['tx.send', 'tx.bundles.send']
