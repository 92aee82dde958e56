import { errorKinds, final } from '../kernel/error-kind.ts'

/** Errors of webhooks. */
export const WEBHOOK_ERRORS = errorKinds({
  URL_REFUSED: final(422, 'url_not_allowed', 'URL not allowed', {
    meaning:
      'The webhook URL is not allowed because of its scheme, port or host, or its host does not resolve to public addresses only.',
    remedy:
      'Use `http` or `https`, port 80, 443 or from 1024 up, no user or password, and a host with public addresses only.',
    example: 'the host of url does not resolve to public addresses only'
  }),
  CHANNEL_UNKNOWN: final(400, 'unknown_channel', 'Unknown channel', {
    meaning: 'A webhook names a channel that does not exist.',
    remedy: 'Correct the channel that `detail` names. If several are wrong, `errors` lists them all.',
    example: 'channels.0: "launch" is not a channel'
  }),
  WEBHOOK_NOT_FOUND: final(404, 'webhook_not_found', 'Webhook not found', {
    meaning: 'The tenant of the API key has no webhook with this id.',
    remedy: 'List the webhooks of the tenant. This one was deleted, or it belongs to another tenant.',
    example: 'there is no webhook with this id'
  }),
  WEBHOOK_LIMIT_REACHED: final(409, 'webhook_limit_reached', 'Webhook limit reached', {
    meaning: 'The tenant has five webhooks, the most that it may have.',
    remedy: 'Delete a webhook, or use fewer webhooks with more channels: a webhook takes 50 channels.',
    example: 'this tenant has 5 webhooks, the most a tenant may have'
  }),
  SECRET_LIMIT_REACHED: final(409, 'secret_limit_reached', 'Secret limit reached', {
    meaning:
      'Ten secrets of the webhook sign now: those of earlier rotations are still in their grace periods.',
    remedy:
      'Wait until a grace period ends, or rotate with `grace_seconds` 0, which ends all of them at once.',
    example:
      'ten secrets of this webhook sign now, the most that may; rotate with grace_seconds 0 to end them'
  })
})
