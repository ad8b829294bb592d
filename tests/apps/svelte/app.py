"""The studio's API: an order, a report, events, prices as they change."""
import asyncio
import os
from contextlib import asynccontextmanager

from fastapi import FastAPI, WebSocket
from fastapi.responses import PlainTextResponse, StreamingResponse
from pydantic import BaseModel

STOCK = {"cup": 3}


@asynccontextmanager
async def lifespan(app):
    app.state.cups = STOCK["cup"]
    yield


app = FastAPI(lifespan=lifespan)


class Order(BaseModel):
    number: int
    total: int


@app.get("/api/health")
async def health():
    return {"process": os.getpid()}


@app.get("/api/order", response_model=Order)
async def order():
    return {"number": 7, "total": 11}


@app.get("/api/report", response_class=PlainTextResponse)
async def report():
    return "cup,3"


@app.get("/api/events")
async def events():
    async def ticks():
        while True:
            yield "data: 1\n\n"
            await asyncio.sleep(1)

    return StreamingResponse(ticks(), media_type="text/event-stream")


@app.websocket("/api/prices")
async def prices(socket: WebSocket):
    await socket.accept()
    await socket.receive_text()
