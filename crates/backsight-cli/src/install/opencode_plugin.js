// Written by `backsight install opencode`. Tells Backsight about prompts and tools; never stops one.
import { spawn } from "node:child_process"

const PROGRAM = "backsight"

export const Backsight = async ({ directory, client }) => {
  const messages = new Map()
  const say = (message) =>
    client.app.log({ body: { service: "backsight", level: "warn", message } }).catch(() => {})
  const tell = (hook_event_name, input) =>
    new Promise((resolve) => {
      const payload = { hook_event_name, directory, input, messageID: messages.get(input.sessionID) }
      const hook = spawn(PROGRAM, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"], timeout: 30000 })
      let answer = ""
      hook.stdout.on("data", (chunk) => (answer += chunk))
      hook.on("error", resolve)
      hook.stdin.on("error", () => {})
      hook.on("close", () => {
        try {
          const { message } = JSON.parse(answer)
          if (message) say(message)
        } catch {}
        resolve()
      })
      hook.stdin.end(JSON.stringify(payload))
    })
  return {
    "chat.message": async (input, output) => {
      messages.set(input.sessionID, input.messageID ?? output.message?.id)
      await tell("chat.message", { sessionID: input.sessionID })
    },
    "tool.execute.before": (input, output) => tell("tool.execute.before", { ...input, args: output.args }),
    "tool.execute.after": (input) => tell("tool.execute.after", input),
    event: async ({ event: { type, properties } }) => {
      const part = properties?.part
      if (type === "session.idle" || type === "session.error") {
        if (properties.sessionID) await tell(type, { sessionID: properties.sessionID })
      } else if (type === "session.created" || type === "session.deleted") {
        await tell(type, { sessionID: properties.sessionID ?? properties.info?.id })
      } else if (type === "message.part.updated" && part?.type === "tool" && part.state?.status === "error") {
        const { tool, sessionID, callID, state } = part
        await tell("tool.execute.error", { tool, sessionID, callID, args: state.input })
      }
    },
  }
}
