import websocket from '@fastify/websocket'
import plugin from 'fastify-plugin'
import { isHandshake } from '../handshake.ts'

/** Accepts WebSockets at routes that have a handler for them. Their owners bound the messages further. */
export const sockets = plugin(
  async (app, { messageBytesMax }: { readonly messageBytesMax: number }) => {
    await app.register(websocket, {
      options: { maxPayload: messageBytesMax, perMessageDeflate: false, clientTracking: false },
      // The owners of the connections close them, and state when clients should reconnect.
      preClose: (done) => done(),
      errorHandler: (_error, socket) => socket.terminate()
    })
    // A connection whose handshake was refused is closed. The plugin closes it only if its own hook ran first.
    app.addHook('onSend', (request, reply, payload, done) => {
      if (isHandshake(request.raw)) void reply.header('connection', 'close')
      done(null, payload)
    })
    app.addHook('onResponse', (request, _reply, done) => {
      if (isHandshake(request.raw)) request.socket.destroySoon()
      done()
    })
  },
  { name: 'sockets', dependencies: ['access'] }
)
