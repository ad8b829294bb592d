"""Orders: a page and two endpoints."""

import os

from flask import Flask, jsonify, redirect, render_template, request

app = Flask(__name__)
ORDERS = {"first": {"total": 11, "items": ["cup", "plate"]}}


@app.get("/health")
def health():
    return str(os.getpid())


@app.get("/")
def index():
    return render_template("index.html", order=ORDERS["first"])


@app.get("/api/total")
def total():
    order = ORDERS["first"]
    return jsonify(total=order["total"])


@app.post("/api/orders")
def create():
    items = request.get_json()["items"]
    return jsonify(number=len(items))
