/**
 * Writes one ready frame to each socket repeatedly, from the message `start` to `stop`, and nothing else: the minimum cost of
 * a notification in Node.
 */
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { textFrame } from '../../src/stream/frames.ts'

const [everyMs = '100'] = process.argv.slice(2)
const sockets = new Set<Socket>()
const server = createServer()
const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false })
server.on('upgrade', (request, stream, head) =>
  upgrades.handleUpgrade(request, stream, head, (ws) => {
    ws.on('error', () => ws.terminate())
    ws.once('close', () => sockets.delete(request.socket))
    ws.on('message', () => {
      ws.send('{"jsonrpc":"2.0","result":1,"id":1}')
      sockets.add(request.socket)
    })
  })
)
let slot = 0
function writeAll(): void {
  const value = `{"lamports":1000000,"data":["","base64"],"owner":"11111111111111111111111111111111","executable":false,"rentEpoch":18446744073709551615,"space":0}`
  const text = `{"jsonrpc":"2.0","method":"accountNotification","params":{"result":{"context":{"slot":${++slot}},"value":${value}},"subscription":1}}`
  const { frame, at } = textFrame(text.length)
  frame.write(text, at, 'latin1')
  for (const socket of sockets) socket.write(frame)
}
let timer: NodeJS.Timeout | undefined
process.on('message', (message) => {
  clearInterval(timer)
  if (message === 'start') timer = setInterval(writeAll, Number(everyMs))
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
